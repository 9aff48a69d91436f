import { expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createMetrics, mergeMetrics } from '../../../src/service/metrics.js';

interface Board {
  panels: { title: string; targets: { expr: string }[] }[];
}

const board = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../..', 'deploy', 'grafana.json'), 'utf8'),
) as Board;
const queries = board.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
const namesIn = (text: string) => new Set(text.match(/\b(ratchet|nodejs)_\w+/g));

/** All metrics of a process that serves and works; a series appears with its first value. */
async function scrape(): Promise<string> {
  const metrics = createMetrics();
  metrics.request('GET', '/', 200, 1);
  metrics.rollout('failed', 1, 'container_timeout');
  metrics.modelCall({
    provider: 'openai',
    model: 'gpt',
    purpose: 'deployment',
    status: 200,
    seconds: 1,
    promptTokens: 1,
    completionTokens: 1,
    costUsd: 1,
  });
  metrics.sample(() => Promise.resolve({ openJobs: [], taskQueues: [] }));
  metrics.worker(() => []);
  metrics.storedBytes(new Map([['default', 1]]));
  return mergeMetrics([metrics.values]);
}

test('every metric that a panel queries is one of /metrics', async () => {
  const known = namesIn(await scrape());
  for (const query of queries) {
    for (const name of namesIn(query)) {
      const family = name.replace(/_(bucket|count|sum)$/, '');
      expect([...known]).toContain(known.has(name) ? name : family);
    }
  }
});

test('every metric of the service is on a panel', async () => {
  const shown = queries.join(' ');
  const families = [...(await scrape()).matchAll(/^# TYPE (ratchet_\w+)/gm)].map(([, name]) => name!);
  expect(families.length).toBeGreaterThan(15);
  for (const family of families) expect(shown).toContain(family);
});
