import { expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { scrapeAll } from '../../support/scrape.js';

interface Board {
  panels: { title: string; targets: { expr: string }[] }[];
}

const board = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../..', 'deploy', 'grafana.json'), 'utf8'),
) as Board;
const queries = board.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
const namesIn = (text: string) => new Set(text.match(/\b(ratchet|nodejs)_\w+/g));

test('every metric that a panel queries is one of /metrics', async () => {
  const known = namesIn(await scrapeAll());
  for (const query of queries) {
    for (const name of namesIn(query)) {
      const family = name.replace(/_(bucket|count|sum)$/, '');
      expect([...known]).toContain(known.has(name) ? name : family);
    }
  }
});

test('every metric of the service is on a panel', async () => {
  const shown = queries.join(' ');
  const families = [...(await scrapeAll()).matchAll(/^# TYPE (ratchet_\w+)/gm)].map(([, name]) => name!);
  expect(families.length).toBeGreaterThan(15);
  for (const family of families) expect(shown).toContain(family);
});
