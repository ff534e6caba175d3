// What the conversation is told of the editor, bounded, without an editor.

export interface Problem {
  line: number;
  severity: string;
  message: string;
}

/** What the user has in front of them. */
export interface Seen {
  path: string;
  language: string;
  line: number;
  selection: string;
  /** The lines around the cursor, where nothing is selected. */
  around: string;
  problems: readonly Problem[];
}

const limits = { path: 180, text: 6000, problems: 20, message: 300 };

/** The entry of the file in the context. */
export const entry = "open file";

/** contextOf returns the changes of the context: all of them, since an entry is set as a whole. */
export function contextOf(seen: Seen | undefined): { files: Record<string, unknown> } {
  if (!seen) return { files: { [entry]: null } };
  const about: Record<string, unknown> = { path: cut(seen.path, limits.path), language: seen.language, line: seen.line };
  if (seen.selection !== "") about.selection = cut(seen.selection, limits.text);
  else if (seen.around !== "") about.around_cursor = cut(seen.around, limits.text);
  if (seen.problems.length > 0) {
    // Those near the cursor are what "this" means.
    const near = [...seen.problems].sort((a, b) => Math.abs(a.line - seen.line) - Math.abs(b.line - seen.line)).slice(0, limits.problems);
    about.problems = near.map((p) => ({ ...p, message: cut(p.message, limits.message) }));
  }
  // The engine takes 16 KiB in all.
  while (bytes(about) > 12_000) {
    const problems = about.problems as Problem[] | undefined;
    if (problems && problems.length > 1) about.problems = problems.slice(0, problems.length >> 1);
    else if (typeof about.selection === "string" && about.selection.length > 100) about.selection = cut(about.selection, about.selection.length >> 1);
    else if (typeof about.around_cursor === "string" && about.around_cursor.length > 100) about.around_cursor = cut(about.around_cursor, about.around_cursor.length >> 1);
    else break;
  }
  return { files: { [entry]: about } };
}

const bytes = (v: unknown) => new TextEncoder().encode(JSON.stringify(v)).length;

function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  // Not within a surrogate pair.
  const end = /[\uD800-\uDBFF]/.test(text[most - 1] ?? "") ? most - 1 : most;
  return `${text.slice(0, end)}…`;
}
