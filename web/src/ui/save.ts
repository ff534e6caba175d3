// Hands texts to the browser.

/** save hands a text to the browser as a file. */
export function save(text: string, name: string, type: string): void {
  saveBlob(new Blob([text], { type }), name);
}

/** saveBlob hands bytes to the browser as a file. */
export function saveBlob(bytes: Blob, name: string): void {
  const url = URL.createObjectURL(bytes);
  const a = document.createElement("a");
  a.href = url;
  a.download = name;
  a.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** copies reports whether this page may write to the clipboard: browsers let pages from this machine or over HTTPS. */
export const copies = (): boolean => typeof navigator.clipboard?.writeText === "function";

/** copy puts a text on the clipboard; false if the browser refuses. */
export async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
