import { readFileSync } from "node:fs";

declare const WEB: string;

/** fixture is the text of a recorded trace. */
export const fixture = (name: string): string => readFileSync(`${WEB}test/fixtures/${name}`, "utf8");
