import { expect } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import type { Page, Request } from 'playwright-core';
import { browserOfFile, isTooWide, violations } from '../support/browser.js';
import { command, ended, evaluations, sessions, type Session } from '../support/jobs-over-http.js';
import { range } from '../support/range.js';
import { serviceOfFile } from '../support/service-of-file.js';
import { until } from '../support/until.js';
import { startMeteredWorld } from '../support/worlds/metered.js';

// An open job, from its first row to its end, with a model that answers when the test says so.

const on = serviceOfFile(() => startMeteredWorld());
const { describe, test, open } = browserOfFile();
const shoot = process.env['SHOTS'];

const picture = async (page: Page, name: string) => {
  if (shoot) writeFileSync(`${shoot}/${name}.png`, await page.screenshot({ fullPage: true }));
};

async function createLong(name: string): Promise<string> {
  const evaluation = { seeds: range(0, 10), heldout_seeds: range(30, 4) };
  const gepa = { generations: 6, population_size: 1, train_seeds: range(10, 20), evaluation };
  const budget = { max_rollouts: 70 };
  const search = { algorithm: 'gepa', ...on.world.job(40), gepa, max_concurrent: 1, budget };
  const body = { policy_optimization: search, name };
  return (await on.service.api.call<{ session_id: string }>('POST', sessions, body)).session_id;
}

const phase = (page: Page, name: string) =>
  page.getByRole('list', { name: 'Phases' }).locator('[aria-current="step"]').filter({ hasText: name });

/** Notifications of the page, which a test reads; the browser of the tests has no permissions. */
const stubNotifications = (page: Page, permission: 'granted' | 'denied') =>
  page.addInitScript((answer) => {
    const shown: string[] = [];
    class Stub {
      onclick: unknown = null;
      constructor(title: string, { body }: { body: string }) {
        shown.push(`${title} | ${body}`);
      }
      static requestPermission = () => Promise.resolve(answer);
    }
    Object.assign(globalThis, { Notification: Stub, shown });
  }, permission);
const shownIn = (page: Page) => page.evaluate('globalThis.shown') as Promise<string[]>;

describe('the page of an open session', () => {
  test('goes through its phases, tells its percent in the title, its decisions and its end', async () => {
    const { service, world } = on;
    world.hold();
    const id = await createLong('support-router');
    const page = await open(service, '#/');
    await stubNotifications(page, 'granted');
    await page.goto(`${service.url}/#/sessions/${id}`);
    await page.reload();
    await phase(page, 'baseline').getByText('0 of 10').waitFor();
    world.allow(7);
    await phase(page, 'baseline').getByText('7 of 10, mean so far 0.000').waitFor();
    await until('the title has the percent', async () => (await page.title()) === '10 % support-router · Ratchet');
    expect(await page.locator('link[rel=icon]').getAttribute('href')).toMatch(/^data:image\/svg/);
    const live = page.getByRole('region', { name: 'Live' });
    await live.getByText(/^\d+ s ago$/).waitFor();
    await live.getByText(/^\d\d:\d\d by answers$/).waitFor();
    await picture(page, 'baseline');
    expect(await violations(page)).toEqual([]);

    const button = live.getByRole('button', { name: 'Tell me when it ends' });
    await button.click();
    await live.getByText('A notification will tell you.').waitFor();

    await command(service, id, 'pause');
    await live.getByText(/^Paused by the service's first key, \d+ s ago$/).waitFor();
    await phase(page, 'baseline').waitFor();
    await command(service, id, 'resume');

    // A few rollouts between two reads of the page, until it has shown all phases.
    const seen = new Set<string>();
    for (;;) {
      world.allow(3);
      const current = page.getByRole('list', { name: 'Phases' }).locator('[aria-current="step"] strong');
      const name = await current.textContent({ timeout: 2_000 }).catch(() => null);
      if (name !== null) seen.add(name);
      if (name === 'held-out rows') break;
      await page.waitForResponse((response) => response.url().endsWith(id));
    }
    for (const name of ['baseline', 'search', 'held-out rows']) expect([...seen]).toContain(name);
    const feed = page.getByRole('list', { name: 'Latest decisions' });
    await feed
      .getByText(/^#\d+ Kept: \d+ of \d+ rows right, \d+ before/)
      .first()
      .waitFor();
    const marks = page.getByRole('group', { name: 'Candidates on the curve' });
    await marks.getByRole('link', { name: /^Candidate #[1-9]\d* evaluated: / }).waitFor();
    await picture(page, 'heldout');
    world.allow(Infinity);
    await ended<Session>(service, id);
    await until('the title tells the end', async () => (await page.title()) === 'done: support-router · Ratchet');
    expect(await shownIn(page)).toEqual([expect.stringMatching(/^support-router: completed \| Estimate \d\.\d{3}$/)]);
    expect(await live.count()).toBe(0);
    await picture(page, 'ended');

    // Candidates on the curve lead to themselves by keyboard.
    await marks.getByRole('link').first().focus();
    await page.keyboard.press('End');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: /^Candidate #\d/ }).waitFor();
    await page.keyboard.press('Escape');
    expect(await violations(page)).toEqual([]);

    // Nothing asks for what has ended; the header asks how the service is.
    const isOfJob = (request: Request) => new URL(request.url()).pathname !== '/api/v1/health';
    await expect(page.waitForRequest(isOfJob, { timeout: 10_000 })).rejects.toThrow('Timeout');
  }, 240_000);

  test('stands still with its cause when the model hangs, in its page and in the list', async () => {
    const { service, world } = on;
    world.hold();
    const id = await createLong('hung');
    const page = await open(service, `#/sessions/${id}`);
    world.allow(3);
    await phase(page, 'baseline').getByText('3 of 10').waitFor();
    const cause = /^Stalled: no result for \d+ s: fake\/policy is silent: 1 answer in flight$/;
    await page.getByRole('region', { name: 'Live' }).getByText(cause).waitFor({ timeout: 100_000 });
    await picture(page, 'stalled');
    const list = await open(service);
    await list.getByRole('row', { name: /hung/ }).getByText(cause).waitFor();
    await picture(list, 'list');
    world.allow(Infinity);
    await ended(service, id);
  }, 180_000);

  test.each([390, 1440, 2560])(
    'fits a window of %i px',
    async (width) => {
      const { service, world } = on;
      world.hold();
      const id = await createLong(`wide ${width}`);
      world.allow(20);
      for (const colorScheme of ['light', 'dark'] as const) {
        const page = await open(service, `#/sessions/${id}`, { viewport: { width, height: 900 }, colorScheme });
        await phase(page, 'search').waitFor();
        expect(await isTooWide(page)).toBe(false);
        await picture(page, `live-${width}-${colorScheme}`);
      }
      world.allow(Infinity);
      await ended(service, id);
    },
    60_000,
  );
});

test('an evaluation tells its rows and mean; without permission the title tells its end', async () => {
  const { service, world } = on;
  world.hold();
  const { dataset, scorer, policy } = world.job(6) as Record<string, object>;
  const candidate = { messages: [{ role: 'system', content: 'Answer well. needs rule-0.' }] };
  const body = { dataset, scorer, policy, candidate, name: 'nightly', max_concurrent: 1, preflight: false };
  const { job_id: id } = await service.api.call<{ job_id: string }>('POST', evaluations, {
    ...body,
    seeds: range(0, 6),
  });
  const page = await open(service);
  await stubNotifications(page, 'denied');
  await page.goto(`${service.url}/#/evaluations/${id}`);
  await page.reload();
  world.allow(2);
  await phase(page, 'rows').getByText('2 of 6, mean so far 0.500').waitFor();
  await page.getByRole('button', { name: 'Tell me when it ends' }).click();
  await page.getByText(/shows no notifications/).waitFor();
  world.allow(Infinity);
  await until('the title tells the end', async () => (await page.title()) === 'done: nightly · Ratchet');
  expect(await shownIn(page)).toEqual([]);
});

test('the overview of a session does not move while it loads', async () => {
  const { service, world } = on;
  world.allow(Infinity);
  const id = await createLong('steady');
  await ended(service, id);
  const page = await open(service);
  await page.addInitScript(`
    globalThis.shifted = 0;
    new PerformanceObserver((list) => list.getEntries().forEach(({ value }) => (globalThis.shifted += value)))
      .observe({ type: 'layout-shift', buffered: true });
  `);
  await page.goto(`${service.url}/#/sessions/${id}`);
  await page.reload();
  await page.getByRole('group', { name: 'Candidates on the curve' }).getByRole('link').first().waitFor();
  await page.waitForLoadState('networkidle');
  expect(await page.evaluate('globalThis.shifted')).toBeLessThan(0.05);
});
