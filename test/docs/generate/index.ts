import { read } from '../pages.js';
import { callerTable } from './callers.js';
import { errorTables } from './errors.js';
import { eventTables } from './events.js';
import { figuresOfOperations, figuresOfReadme } from './figures.js';
import { presetTable } from './presets.js';
import { routeTables } from './routes.js';
import { scorerTable } from './scorers.js';
import { settingTables } from './settings.js';

/** The generated parts of pages, between `<!-- generated: NAME -->` and `<!-- end -->`. */
const parts: { page: string; name: string; render: () => string }[] = [
  { page: 'docs/reference/errors-and-limits.md', name: 'codes', render: errorTables },
  { page: 'docs/reference/README.md', name: 'routes', render: routeTables },
  { page: 'docs/reference/scorers.md', name: 'scorers', render: scorerTable },
  { page: 'docs/reference/events.md', name: 'events', render: eventTables },
  { page: 'docs/reference/clients.md', name: 'callers', render: callerTable },
  { page: 'docs/reference/providers.md', name: 'presets', render: presetTable },
  { page: 'docs/settings.md', name: 'variables', render: settingTables },
  { page: 'README.md', name: 'figures', render: figuresOfReadme },
  { page: 'docs/operations.md', name: 'figures', render: figuresOfOperations },
];

/** Each page with generated parts, as it should be. */
export function generatedPages(): { page: string; text: string }[] {
  return [...new Set(parts.map(({ page }) => page))].map((page) => {
    const text = parts
      .filter((part) => part.page === page)
      .reduce((before, { name, render }) => withPart(before, name, render()), read(page));
    return { page, text };
  });
}

function withPart(page: string, name: string, content: string): string {
  const begin = `<!-- generated: ${name} -->`;
  const [from, to] = [page.indexOf(begin), page.indexOf('<!-- end -->', page.indexOf(begin))];
  if (from < 0 || to < 0) throw new Error(`No "${begin}" with an "<!-- end -->".`);
  return `${page.slice(0, from + begin.length)}\n\n${content}\n\n${page.slice(to)}`;
}
