import { expect, test } from '@jest/globals';
import { createMetrics, mergeMetrics } from '../../src/service/metrics.js';
import { codeNames, read, section, tableRows } from './pages.js';

// Every metric of /metrics has a row on the page of operations, with its labels and no others.

async function scrape(): Promise<string> {
  const metrics = createMetrics();
  metrics.request('GET', '/', 200, 1);
  metrics.rollout('failed', 1, 'container_timeout');
  for (const status of [200, 400, 429, 500])
    for (const costUsd of [1, null])
      metrics.modelCall({
        provider: 'openai',
        model: 'gpt',
        purpose: 'deployment',
        status,
        seconds: 1,
        promptTokens: 1,
        completionTokens: 1,
        costUsd,
      });
  metrics.retry('container');
  metrics.proposal('accepted');
  metrics.jobEnded('session', 'completed');
  metrics.eventLag(1);
  metrics.sample(() =>
    Promise.resolve({
      openJobs: [{ kind: 'session', status: 'running', count: 1 }],
      taskQueues: [{ type: 'workflow', backlog: 1, ageSeconds: 1 }],
    }),
  );
  metrics.worker(() => [{ type: 'workflow', used: 1, total: 2 }]);
  metrics.storedBytes(new Map([['default', 1]]));
  return mergeMetrics([metrics.values]);
}

const part = section(read('docs/operations.md'), '## Health and metrics');
const rows = tableRows(part).filter((cells) => cells.length === 4);

test('metrics and their labels are those of the page', async () => {
  const text = await scrape();
  const names = [...text.matchAll(/^# TYPE ratchet_(\w+) /gm)].map(([, name]) => name!);
  const labelsOf = (name: string) => {
    const series = [...text.matchAll(new RegExp(`^ratchet_${name}(?:_bucket|_sum|_count)?\\{([^}]*)\\}`, 'gm'))];
    const labels = series.flatMap(([, pairs]) => [...pairs!.matchAll(/(\w+)="/g)].map(([, label]) => label!));
    return [...new Set(labels)].filter((label) => label !== 'le').sort();
  };
  const documented = Object.fromEntries(
    rows.flatMap(([cell, labels]) =>
      codeNames(cell!).map((name) => [name, labels === '' ? [] : codeNames(labels!).sort()]),
    ),
  );
  expect(documented).toEqual(Object.fromEntries(names.map((name) => [name, labelsOf(name)])));
});

test('the values of labels are on the page', async () => {
  const outcomes = [...(await scrape()).matchAll(/model_calls_total\{.*outcome="(\w+)"/g)].map(([, value]) => value!);
  const values = tableRows(part).find(([label]) => label === '`outcome` of model calls')?.[1] ?? '';
  expect(codeNames(values).sort()).toEqual([...new Set(outcomes)].sort());
});
