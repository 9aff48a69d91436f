import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The root of the repository. */
export const root = join(import.meta.dirname, '../..');

const skipped = ['node_modules', 'dist', 'coverage'];

/** All Markdown pages below a folder, and `llms.txt`, by their paths from the root. */
export function pages(folder = ''): string[] {
  const entries = readdirSync(join(root, folder), { withFileTypes: true });
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name.startsWith('.') || skipped.includes(entry.name) ? [] : pages(path);
    return /\.md$|^llms\.txt$/.test(entry.name) ? [path] : [];
  });
}

export const read = (path: string): string => readFileSync(join(root, path), 'utf8');

/** The lines of a page outside of fenced blocks; those within are empty. */
export function prose(text: string): string[] {
  let fence: string | null = null;
  return text.split('\n').map((line) => {
    const mark = /^\s*(```+|~~~+)/.exec(line)?.[1];
    if (!mark) return fence === null ? line : '';
    fence = fence === null ? mark : line.trim().startsWith(fence) ? null : fence;
    return '';
  });
}

/** A section from its heading to the next one of the same or a higher level. */
export function section(text: string, heading: string): string {
  const from = text.indexOf(`\n${heading}\n`);
  if (from < 0) throw new Error(`No section "${heading}".`);
  const level = /^#+/.exec(heading)![0].length;
  const rest = text.slice(from + heading.length + 2);
  const end = rest.search(new RegExp(`^#{1,${level}} `, 'm'));
  return end < 0 ? rest : rest.slice(0, end);
}

/** The cells of the rows of all tables in a text, without heads. */
export function tableRows(text: string): string[][] {
  return text
    .split('\n')
    .filter(
      (line, at, lines) =>
        line.startsWith('|') && !/^\|[ :|-]+$/.test(line) && !/^\|[ :|-]+$/.test(lines[at + 1] ?? ''),
    )
    .map((line) =>
      line
        .split(/(?<!\\)\|/)
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}

/** The names between backticks. */
export const codeNames = (text: string): string[] => [...text.matchAll(/`([^`]+)`/g)].map(([, name]) => name!);
