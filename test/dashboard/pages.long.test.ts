import { beforeAll, expect } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { candidateId, rolloutId } from '../../src/core/jobs/ids.js';
import { jobKinds } from '../../src/core/jobs/kinds.js';
import { choose } from '../support/actions.js';
import { browserOfFile, isTooWide, violations } from '../support/browser.js';
import { findChromium } from '../support/chromium.js';
import { createDashboardJobs, type DashboardJobs } from '../support/dashboard-jobs.js';
import { pathOf } from '../support/jobs-over-http.js';
import { serviceOfFile } from '../support/service-of-file.js';

// Every page, tab and main dialog, on both widths and in both themes: nothing serious for axe, no
// wider than the window, no error in the console, and a heading.

const on = serviceOfFile();
const { test, open } = browserOfFile();
const source = join(import.meta.dirname, '../../dashboard/src');
const read = (file: string) => readFileSync(join(source, file), 'utf8');

const longestWaitMs = 15_000;

let jobs: DashboardJobs;
let candidate: string;

beforeAll(async () => {
  if (findChromium() === undefined) return;
  jobs = await createDashboardJobs(on.service);
  const { api } = on.service;
  const path = `${pathOf(jobs.session)}/candidates`;
  const { data } = await api.call<{ data: { candidate_id: string }[] }>('GET', path);
  candidate = data.at(-1)!.candidate_id;
}, 240_000);

interface View {
  /** Route and tab, as in the source: `sessions?tab=why`. */
  name: string;
  fragment: () => string;
  /** Shown when the page has its data. */
  ready: (page: Page) => Promise<unknown>;
}

const region = (name: string) => (page: Page) => page.getByRole('region', { name, exact: true }).first().waitFor();
const table = (name: string) => (page: Page) => page.getByRole('table', { name, exact: true }).waitFor();
const dialog = (page: Page) => page.getByRole('dialog').locator('section').first().waitFor();
const button = (name: string) => async (page: Page) => {
  await page.getByRole('button', { name, exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).waitFor();
};
const of =
  (section: string, id: () => string, more = '') =>
  () =>
    `#/${section}/${id()}${more}`;
const ofSession = (more = '') => of('sessions', () => jobs.session, more);
const ofGraph = (more = '') => of('graphs', () => jobs.graph, more);
const [a, b] = [() => jobs.evaluations[0], () => jobs.evaluations[1]];

const views: View[] = [
  { name: '', fragment: () => '#/', ready: region('Runs') },
  { name: 'now', fragment: () => '#/now', ready: region('Open jobs') },
  { name: 'datasets', fragment: () => '#/datasets', ready: region('Data sets') },
  { name: 'sessions?tab=overview', fragment: ofSession(), ready: region('Verdict') },
  { name: 'sessions?tab=rows', fragment: ofSession('?tab=rows'), ready: table('Rows') },
  { name: 'sessions?tab=candidates', fragment: ofSession('?tab=candidates'), ready: table('Table of candidates') },
  { name: 'sessions?tab=why', fragment: ofSession('?tab=why'), ready: region('Lineage') },
  { name: 'sessions?tab=prompt', fragment: ofSession('?tab=prompt'), ready: region('Best prompt') },
  { name: 'sessions?tab=configuration', fragment: ofSession('?tab=configuration'), ready: region('Send it again') },
  { name: 'graphs?tab=configuration', fragment: ofGraph('?tab=configuration'), ready: region('Send it again') },
  {
    name: 'evaluations?tab=configuration',
    fragment: () => `#/evaluations/${a()}?tab=configuration`,
    ready: region('Evaluated prompt'),
  },
  { name: 'new, from a session', fragment: () => `#/new?from=${jobs.session}`, ready: region('Original') },
  { name: 'new, from a graph', fragment: () => `#/new?from=${jobs.graph}`, ready: region('Original') },
  { name: 'new, of a version', fragment: () => `#/new?evaluate=${jobs.versions[1]}`, ready: region('Original') },
  {
    name: 'sessions?tab=events',
    fragment: ofSession('?tab=events'),
    ready: (page) => page.getByRole('listitem').first().waitFor(),
  },
  { name: 'sessions, candidate', fragment: () => `${ofSession('?candidate=')()}${candidate}`, ready: dialog },
  { name: 'sessions, trace', fragment: () => `${ofSession('?trace=')()}${rolloutId(jobs.session, 0)}`, ready: dialog },
  { name: 'sessions, extend', fragment: ofSession(), ready: button('Extend') },
  {
    name: 'sessions, edit',
    fragment: ofSession(),
    ready: async (page) => {
      await choose(page, 'Edit');
      await page.getByRole('dialog').waitFor();
    },
  },
  {
    name: 'sessions, menu',
    fragment: ofSession(),
    ready: async (page) => {
      await page.getByRole('button', { name: 'More' }).click();
      await page.getByRole('menuitem', { name: 'Download traces' }).waitFor();
    },
  },
  {
    name: 'evaluations?tab=overview',
    fragment: () => `#/evaluations/${a()}`,
    ready: region('Distribution of rewards'),
  },
  { name: 'evaluations?tab=rows', fragment: () => `#/evaluations/${a()}?tab=rows`, ready: table('Rows') },
  {
    name: 'evaluations?tab=beside',
    fragment: () => `#/evaluations/${a()}?tab=beside&with=${b()}`,
    ready: (page) =>
      page
        .getByRole('button', { name: /^Trace of row/ })
        .first()
        .waitFor(),
  },
  {
    name: 'evaluations, trace',
    fragment: () => `#/evaluations/${a()}?trace=${a()}:${rolloutId(a(), 0)}`,
    ready: dialog,
  },
  { name: 'compare', fragment: () => `#/compare?ids=${a()},${b()}`, ready: region('Prompt of A') },
  { name: 'graphs?tab=overview', fragment: ofGraph(), ready: region('Verdict') },
  {
    name: 'graphs?tab=graph',
    fragment: ofGraph('?tab=graph'),
    ready: (page) => page.getByRole('region', { name: /^Graph of candidate/ }).waitFor(),
  },
  { name: 'graphs?tab=rows', fragment: ofGraph('?tab=rows'), ready: table('Rows') },
  { name: 'graphs?tab=candidates', fragment: ofGraph('?tab=candidates'), ready: table('Table of candidates') },
  {
    name: 'graphs?tab=events',
    fragment: ofGraph('?tab=events'),
    ready: (page) => page.getByRole('listitem').first().waitFor(),
  },
  {
    name: 'graphs, candidate',
    fragment: () => `${ofGraph('?candidate=')()}${candidateId(jobs.graph, 0)}`,
    ready: dialog,
  },
  { name: 'graphs, trace', fragment: () => `${ofGraph('?trace=')()}${rolloutId(jobs.graph, 0)}`, ready: dialog },
  {
    name: 'new',
    fragment: () => '#/new?sample=1',
    ready: (page) => page.getByRole('listitem').filter({ hasText: 'held-out' }).waitFor(),
  },
  { name: 'deployments', fragment: () => '#/deployments', ready: region('Deployments') },
  {
    name: 'deployments, version',
    fragment: () => `#/deployments/${jobs.versions[1]}`,
    ready: region('Snapshot'),
  },
  {
    name: 'deployments, roll back',
    fragment: () => `#/deployments/${jobs.versions[1]}`,
    ready: button('Roll back'),
  },
  {
    name: 'deployments, deploy',
    fragment: () => `#/deployments?source=${jobs.session}`,
    ready: (page) => page.getByRole('dialog').getByLabel('Name', { exact: true }).waitFor(),
  },
  { name: 'migrations', fragment: () => `#/migrations/${jobs.migration}`, ready: region('Steps') },
  { name: 'checkups', fragment: () => `#/checkups/${jobs.checkup}`, ready: region('Rows') },
  { name: 'playground', fragment: () => '#/playground', ready: region('Input') },
];

test('the views have every route and every tab of the source', () => {
  const ofJobs = Object.values(jobKinds).map(({ page }) => page);
  const routes = [...ofJobs, ...[...read('app.tsx').matchAll(/\['(\w+)', \w+Page\]/g)].map(([, name]) => name!)];
  const tabsOf = (page: string) =>
    [.../const tabs = \[(.*?)\]/s.exec(read(`pages/${page}/page.tsx`))![1]!.matchAll(/'(\w+)'/g)].map(
      ([, tab]) => tab!,
    );
  const expected = [
    ...routes,
    ...tabsOf('session').map((tab) => `sessions?tab=${tab}`),
    ...tabsOf('graph').map((tab) => `graphs?tab=${tab}`),
    ...tabsOf('evaluation').map((tab) => `evaluations?tab=${tab}`),
  ];
  const visited = views.flatMap(({ name }) => [name, name.split(/[?,]/)[0]!]);
  expect(expected.filter((name) => !visited.includes(name))).toEqual([]);
  expect(routes.length).toBeGreaterThan(5);
});

test.each([1280, 390].flatMap((width) => (['light', 'dark'] as const).map((colorScheme) => ({ width, colorScheme }))))(
  'each page at %o',
  async ({ width, colorScheme }) => {
    const page = await open(on.service, '#/', { viewport: { width, height: 800 }, colorScheme });
    page.setDefaultTimeout(longestWaitMs);
    const faults: string[] = [];
    for (const { name, fragment, ready } of views) {
      await page.goto('about:blank');
      await page.goto(`${on.service.url}/${fragment()}`);
      try {
        await ready(page);
        await page.locator('h1').first().waitFor();
      } catch (error) {
        faults.push(`${name}: ${String(error).slice(0, 200)}`);
        continue;
      }
      if ((await page.locator('h1').count()) !== 1) faults.push(`${name}: not one h1`);
      if (await isTooWide(page)) faults.push(`${name}: wider than the window`);
      faults.push(...(await violations(page)).map((violation) => `${name}: ${violation}`));
    }
    expect(faults).toEqual([]);
  },
  180_000,
);

test('on a phone tables that decide fit, the header is one line, and Start is in view', async () => {
  const page = await open(on.service, '#/', { viewport: { width: 390, height: 800 } });
  const tables = ['', 'sessions?tab=rows', 'sessions?tab=candidates', 'compare', 'deployments', 'deployments, version'];
  const faults: string[] = [];
  for (const { name, fragment, ready } of views.filter((view) => tables.includes(view.name) || view.name === 'now')) {
    await page.goto(`${on.service.url}/${fragment()}`);
    await ready(page);
    const wide = await page.evaluate<string[]>(`[...document.querySelectorAll('.leaderboard, .virtual, .table')]
      .map((table) => table.closest('.table-box') ?? table)
      .filter((box) => box.scrollWidth > box.clientWidth && !/Rows|Configuration/.test(box.getAttribute('aria-label')))
      .map((box) => box.getAttribute('aria-label'))`);
    faults.push(...wide.map((label) => `${name}: ${label} scrolls`));
    expect((await page.locator('header.top').boundingBox())!.height).toBeLessThan(60);
  }
  expect(faults).toEqual([]);

  const link = page.getByRole('link', { name: 'Data sets' });
  expect(await link.isVisible()).toBe(false);
  await page.getByRole('button', { name: 'Menu' }).press('Enter');
  await page.keyboard.press('Tab');
  await link.press('Enter');
  await region('Data sets')(page);
  expect(await link.isVisible()).toBe(false);

  await page.goto(`${on.service.url}/#/new?sample=1`);
  const start = page.getByRole('button', { name: 'Start', exact: true });
  await page.getByText(/^At most \d+ answers, \$0$/).waitFor();
  const { y, height } = (await start.boundingBox())!;
  expect(y + height).toBeLessThanOrEqual(800);
}, 60_000);
