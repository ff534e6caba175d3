// What was said, and what of it was heard.

/** tail returns the part of the text after the part that was heard. */
export function tail(text: string, heard: string): string {
  const squeeze = (s: string) => s.replace(/\s+/g, " ").trim();
  const all = squeeze(text);
  const part = squeeze(heard);
  if (part === "") return all;
  return all.startsWith(part) ? all.slice(part.length).trim() : "";
}
