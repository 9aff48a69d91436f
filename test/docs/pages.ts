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

const isRow = (line: string) => line.startsWith('|');
const isRule = (line: string) => /^\|[ :|-]+$/.test(line);
const cellsOf = (line: string) =>
  line
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map((cell) => cell.trim());

/** The cells of the rows of all tables in a text, without heads. */
export function tableRows(text: string): string[][] {
  const lines = text.split('\n');
  return lines.filter((line, at) => isRow(line) && !isRule(line) && !isRule(lines[at + 1] ?? '')).map(cellsOf);
}

/** The rows of the first table of a page whose first column has this name. */
export function tableOf(page: string, firstColumn: string): string[][] {
  const lines = read(page).split('\n');
  const head = lines.findIndex((line) => isRow(line) && cellsOf(line)[0] === firstColumn);
  if (head < 0) throw new Error(`${page} has no table that begins with the column "${firstColumn}"`);
  const end = lines.findIndex((line, at) => at > head && !isRow(line));
  return tableRows(lines.slice(head, end).join('\n'));
}

/** The fenced blocks of a page. */
export function fencesOf(page: string): { line: number; info: string; body: string }[] {
  const text = read(page);
  return [...text.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)].map(({ index, 1: info, 2: body }) => ({
    line: text.slice(0, index).split('\n').length,
    info: info!.trim(),
    body: body!,
  }));
}

/** The names between backticks. */
export const codeNames = (text: string): string[] => [...text.matchAll(/`([^`]+)`/g)].map(([, name]) => name!);
