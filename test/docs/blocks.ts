import { codeNames, fencesOf, read, section, tableRows } from './pages.js';

// - Every block marked `sh` runs, in order; `sh skip` does not run, and `sh end` runs after all.
// - The `text` block after it is its output, stdout and stderr. Without one it prints nothing.
// - In an output `…` matches any text, such as ids, times and omissions.

export interface Block {
  page: string;
  line: number;
  code: string;
  output: string;
}

/** The shell blocks of a page, each with the output printed below it. */
export function shellBlocks(page: string, mark: 'sh' | 'sh end' = 'sh'): Block[] {
  return fencesOf(page).flatMap(({ info, body, line }, at, fences) => {
    const next = fences[at + 1];
    const output = next?.info === 'text' ? next.body.trim() : '';
    return info === mark ? [{ page, line, code: body, output }] : [];
  });
}

export const tutorial = 'docs/tutorial.md';

/** The variables that the blocks of a page set. */
export function variablesOf(page: string): string[] {
  const set = shellBlocks(page).flatMap(({ code }) => [...code.matchAll(/^(?:export )?([A-Z][A-Z_]*)=/gm)]);
  return [...new Set(set.map(([, name]) => name!))];
}

/** The pages of the reference in the order of its table. */
export function referencePages(): string[] {
  const listed = tableRows(read('docs/reference/README.md').split('\n## ')[0]!);
  const pages = listed.flatMap(([cell]) => /\]\(([a-z-]+\.md)\)/.exec(cell!)?.[1] ?? []);
  return [...new Set(pages)].map((name) => `docs/reference/${name}`);
}

/** The pages whose blocks run first: the tutorial, and those that the list of examples names. */
export function pagesBefore(page: string): string[] {
  if (!page.startsWith('docs/reference/')) return [];
  const rows = tableRows(section(read('docs/reference/README.md'), '## Examples'));
  const linked = (cell: string) =>
    [...cell.matchAll(/\]\(([a-z-]+\.md)\)/g)].map(([, name]) => `docs/reference/${name}`);
  return [
    tutorial,
    ...rows.filter(([pages]) => linked(pages!).includes(page)).flatMap(([, before]) => linked(before!)),
  ];
}

/** The variables and keys that a row of the list says to be taken from another page. */
export function takenBy(page: string): string[] {
  const rows = tableRows(section(read('docs/reference/README.md'), '## Examples'));
  return rows
    .filter(([pages]) => pages!.includes(`(${page.replace('docs/reference/', '')})`))
    .flatMap(([, , taken]) => codeNames(taken!).map((name) => name.replace('$', '')));
}
