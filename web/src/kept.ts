// What survives a reload: of this tab (session storage: key and conversation),
// or of this browser (local storage: theme, language). Storage may be refused;
// then nothing is kept.

// Other panels of the same origin, under other paths, have names of their own.
const path = globalThis.location?.pathname.replace(/[^/]*$/, "") ?? "/";
const prefix = path === "/" ? "hocket." : `hocket.${path}.`;

/** kept is what was kept in this tab under a name. */
export function kept<T>(name: string): T | undefined {
  return read<T>(() => sessionStorage.getItem(prefix + name));
}

/** keep keeps a value in this tab; undefined forgets it. */
export function keep(name: string, value: unknown): void {
  write(() => sessionStorage, name, value);
}

/** setting is what was chosen in this browser. */
export function setting(name: string): string | undefined {
  return read<string>(() => localStorage.getItem(prefix + name));
}

/** set keeps what was chosen in this browser; undefined forgets it. */
export function set(name: string, value: string | undefined): void {
  write(() => localStorage, name, value);
}

/**
 * caller is who talks from this browser, as far as anybody can know: a number drawn
 * once. What was left of an earlier conversation is told in the next one. Undefined
 * where nothing can be kept.
 */
export function caller(): string | undefined {
  const known = setting("caller");
  if (known) return known;
  const drawn = [...crypto.getRandomValues(new Uint8Array(15))].map((b) => b.toString(36).padStart(2, "0")).join("");
  set("caller", drawn);
  return setting("caller");
}

/** timezone is that of this browser, by its IANA name; undefined where it does not know one. */
export function timezone(): string | undefined {
  const name = Intl.DateTimeFormat().resolvedOptions().timeZone as string | undefined;
  return name && name !== "Etc/Unknown" ? name : undefined;
}

function read<T>(get: () => string | null): T | undefined {
  try {
    const text = get();
    return text === null ? undefined : (JSON.parse(text) as T);
  } catch {
    return undefined;
  }
}

function write(storage: () => Storage, name: string, value: unknown): void {
  try {
    if (value === undefined) storage().removeItem(prefix + name);
    else storage().setItem(prefix + name, JSON.stringify(value));
  } catch {
    // Refused; the page works without.
  }
}
