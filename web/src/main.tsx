// The panel as a page: of a server, or inside of a host that posts messages.

import { render } from "preact";
import { App } from "./app.ts";
import { AudioCall } from "./audio/call.ts";
import { hostPort } from "./source/host.ts";
import "./style/panel.css";
import { Panel } from "./ui/panel.tsx";

const root = document.getElementById("panel");
if (root) {
  const port = hostPort();
  const app = new App(port ? undefined : AudioCall, port);
  render(<Panel app={app} />, root);
  void app.run();
}
