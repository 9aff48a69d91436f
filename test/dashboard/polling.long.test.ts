import { beforeAll, expect } from '@jest/globals';
import type { Page, Request } from 'playwright-core';
import { browserOfFile } from '../support/browser.js';
import { findChromium } from '../support/chromium.js';
import { createDashboardJobs, type DashboardJobs } from '../support/dashboard-jobs.js';
import { pathOf } from '../support/jobs-over-http.js';
import { serviceOfFile } from '../support/service-of-file.js';
import { until } from '../support/until.js';

// After a job has ended its pages send no request but that for the service's health.

const on = serviceOfFile();
const { test, open } = browserOfFile();

const [settledMs, watchedMs] = [1_500, 4_000];
const shared = '/api/v1/health';

let jobs: DashboardJobs;
let candidate: string;

beforeAll(async () => {
  if (findChromium() === undefined) return;
  jobs = await createDashboardJobs(on.service);
  const { api } = on.service;
  const { data } = await api.call<{ data: { candidate_id: string }[] }>('GET', `${pathOf(jobs.session)}/candidates`);
  candidate = data.at(-1)!.candidate_id;
  await api.call('PATCH', `/api/harbor/deployments/${jobs.versions[0]}`, { archived: true });
}, 240_000);

const [a, b] = [() => jobs.evaluations[0], () => jobs.evaluations[1]];
const tabs = ['overview', 'rows', 'candidates', 'why', 'prompt', 'configuration', 'events'];
const views: [string, () => string][] = [
  ...tabs.map((tab): [string, () => string] => [`session, ${tab}`, () => `sessions/${jobs.session}?tab=${tab}`]),
  ['session, candidate', () => `sessions/${jobs.session}?candidate=${candidate}`],
  ...['overview', 'rows', 'beside', 'configuration'].map((tab): [string, () => string] => [
    `evaluation, ${tab}`,
    () => `evaluations/${a()}?tab=${tab}`,
  ]),
  ...['overview', 'rows', 'candidates', 'graph', 'configuration', 'events'].map((tab): [string, () => string] => [
    `graph, ${tab}`,
    () => `graphs/${jobs.graph}?tab=${tab}`,
  ]),
  ['compare', () => `compare?ids=${a()},${b()}`],
  ['review', () => `sessions/${jobs.session}?tab=rows&row=0`],
  ['data sets', () => 'datasets'],
  ['archived deployment', () => `deployments/${jobs.versions[0]}`],
];

interface Watched {
  /** API requests by method and path; streams of events end with their job. */
  asked: string[];
  /** Whether all are answered, and none came for a while. */
  isSettled(): boolean;
}

function watch(page: Page): Watched {
  const asked: string[] = [];
  const open = new Set<Request>();
  let lastAt = Date.now();
  page.on('request', (request) => {
    const { pathname, search } = new URL(request.url());
    if (!pathname.startsWith('/api/') || pathname === shared) return;
    asked.push(`${request.method()} ${pathname}${search}`);
    open.add(request);
  });
  const onEnd = (request: Request) => {
    if (open.delete(request)) lastAt = Date.now();
  };
  page.on('requestfinished', onEnd).on('requestfailed', onEnd);
  return { asked, isSettled: () => asked.length > 0 && open.size === 0 && Date.now() - lastAt > settledMs };
}

test.each(views)('no polling of what has ended: %s', async (_, fragment) => {
  const page = await open(on.service, '#/new');
  const { asked, isSettled } = watch(page);
  await page.goto(`${on.service.url}/#/${fragment()}`);
  await until('the page has settled', () => Promise.resolve(isSettled()));
  const read = asked.splice(0);
  await page.waitForTimeout(watchedMs);
  expect(asked).toEqual([]);
  // The first page of a list, and the summary beside it, are read once.
  const rows = read.filter((request) => /\/rows(?:\/summary)?(?:\?|$)/.test(request));
  expect(rows).toEqual([...new Set(rows)]);
});
