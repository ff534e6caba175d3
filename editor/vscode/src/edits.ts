// What an edit and a path are, without an editor.

/** An error that the model is told, and may correct. */
export class InputError extends Error {}

/** replaced returns a text with the one occurrence of a part replaced. */
export function replaced(text: string, before: string, after: string): { text: string; at: number } {
  if (before === "") {
    if (text !== "") throw new InputError("old must not be empty: give the text that is replaced");
    return { text: after, at: 0 };
  }
  // A file may end its lines as Windows does; a model never does.
  const crlf = text.includes("\r\n");
  const as = (s: string) => (crlf ? s.replace(/\r?\n/g, "\r\n") : s);
  const old = as(before);
  const at = text.indexOf(old);
  if (at < 0) throw new InputError("old is not in the file: give it exactly as it stands there");
  if (text.indexOf(old, at + 1) >= 0) throw new InputError("old is in the file more than once: give more of the lines around it");
  return { text: text.slice(0, at) + as(after) + text.slice(at + old.length), at };
}

/** inside returns a relative path without "." and ".."; it throws for one that leads out of its folder. */
export function inside(path: string): string {
  if (path === "" || path.includes("\0")) throw new InputError("path must name a file");
  const slashes = path.replaceAll("\\", "/");
  if (slashes.startsWith("/") || /^[A-Za-z]:/.test(slashes)) throw new InputError(`path is ${JSON.stringify(path)}: expected one relative to the workspace`);
  const parts: string[] = [];
  for (const part of slashes.split("/")) {
    if (part === "" || part === ".") continue;
    if (part !== "..") parts.push(part);
    else if (parts.pop() === undefined) throw new InputError(`path is ${JSON.stringify(path)}: it leads out of the workspace`);
  }
  if (parts.length === 0) throw new InputError("path must name a file");
  return parts.join("/");
}
