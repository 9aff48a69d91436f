/** JSON texts of a given size that cost the most to read, by kind. */
export const junk: Record<string, (bytes: number) => string> = {
  numbers: (bytes) => `[${'1,'.repeat(bytes / 2)}1]`,
  lists: (bytes) => `[${'[],'.repeat(bytes / 3)}1]`,
  objects: (bytes) => `[${'{"a":1},'.repeat(bytes / 8)}1]`,
  digits: (bytes) => '1'.repeat(bytes),
  fraction: (bytes) => `0.${'1'.repeat(bytes)}`,
  zeros: (bytes) => `0.1${'0'.repeat(bytes)}1`,
  nested: (bytes) => '['.repeat(bytes / 2) + ']'.repeat(bytes / 2),
  'nested objects': (bytes) => `${'{"a":'.repeat(bytes / 6)}1${'}'.repeat(bytes / 6)}`,
  names: (bytes) => `{${Array.from({ length: bytes / 14 }, (_, at) => `"n${at}":1`).join()}}`,
  'distinct objects': (bytes) => `[${Array.from({ length: bytes / 14 }, (_, at) => `{"n${at}":1}`).join()}]`,
  'one name': (bytes) => `{"${'n'.repeat(bytes)}":1}`,
  text: (bytes) => `"${'x'.repeat(bytes)}"`,
  spaces: (bytes) => `"Bearer${' '.repeat(bytes)}."`,
  'wide letters': (bytes) => `"${'語'.repeat(bytes / 3)}"`,
  quotes: (bytes) => `"${'\\"'.repeat(bytes / 2)}"`,
  backslashes: (bytes) => `"${'\\\\'.repeat(bytes / 2)}"`,
  brackets: (bytes) => `"${'[{,'.repeat(bytes / 3)}"`,
  escapes: (bytes) => `"${'\\u0041'.repeat(bytes / 6)}"`,
  'escaped pairs': (bytes) => `"${'\\ud83d\\ude00'.repeat(bytes / 12)}"`,
  'escaped NUL': (bytes) => `"${'\\u0000'.repeat(bytes / 6)}"`,
};

const gap = '@junk@';
/** Stands for the junk in a request. */
export const here: unknown = gap;

/** Parts of a limit: the largest text, and smaller ones that other limits accept. */
export const parts = [1, 0.5, 0.25, 0.1, 0.02];

/** A request as JSON, with junk in it; the text has at most `bytes` bytes. */
export function withJunk(request: unknown, kind: string, bytes: number): string {
  const text = JSON.stringify(request);
  return text.replace(`"${gap}"`, () => junk[kind]!(Math.floor((bytes - text.length - 100) / 12) * 12));
}
