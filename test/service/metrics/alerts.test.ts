import { expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { scrapeAll } from '../../support/scrape.js';
import { read, section, tableOf } from '../../docs/pages.js';

const root = join(import.meta.dirname, '../../..');
const rules = readFileSync(join(root, 'deploy', 'alerts.yaml'), 'utf8');
const series = readFileSync(join(import.meta.dirname, 'alerts.promtool.yaml'), 'utf8');
const alertsOf = (text: string, field: string) =>
  [...new Set([...text.matchAll(new RegExp(`\\b${field}: (\\w+)`, 'g'))].map(([, name]) => name!))].sort();
const alerts = alertsOf(rules, 'alert');

test('every metric of a rule is one of /metrics', async () => {
  const known = new Set((await scrapeAll()).match(/\b(ratchet|nodejs)_\w+/g));
  const named = new Set(rules.match(/\b(ratchet|nodejs)_\w+/g));
  expect(named.size).toBeGreaterThan(8);
  expect([...named].filter((name) => !known.has(name))).toEqual([]);
});

test('every alert has its row on the page of operations, and series that raise it', () => {
  const rows = tableOf('docs/operations.md', 'alert').map(([name]) => name!.replaceAll('`', ''));
  expect(rows.sort()).toEqual(alerts);
  expect(alertsOf(series, 'alertname')).toEqual(alerts);
  expect(section(read('docs/operations.md'), '## Alerts')).toContain('deploy/alerts.yaml');
});

const promtool = (...args: string[]) => spawnSync('promtool', args, { cwd: import.meta.dirname, encoding: 'utf8' });
const isThere = promtool('--version').status === 0;

(isThere ? test : test.skip)('promtool takes the rules, and raises the alerts (skipped where it is absent)', () => {
  const check = promtool('check', 'rules', join(root, 'deploy', 'alerts.yaml'));
  expect([check.status, check.stderr]).toEqual([0, '']);
  const run = promtool('test', 'rules', 'alerts.promtool.yaml');
  expect([run.status, run.stderr]).toEqual([0, '']);
});
