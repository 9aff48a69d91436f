import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/** Relative links and pictures of a Markdown file that lead to no file below a folder. */
export function brokenLinks(folder: string, file: string): string[] {
  const text = readFileSync(join(folder, file), 'utf8').replace(/^```[\s\S]*?^```$/gm, '');
  const links = [...text.matchAll(/\]\(([^)\s]+)\)|\b(?:src|href)="([^"]+)"/g)].map(([, link, html]) => link ?? html!);
  return links.filter((link) => {
    if (/^(https?:|mailto:|#)/.test(link)) return false;
    const target = join(folder, dirname(file), link.split('#')[0]!);
    return relative(folder, target).startsWith('..') || !existsSync(target);
  });
}
