import { beforeAll, expect } from '@jest/globals';
import { browserOfFile, isTooWide, violations } from '../support/browser.js';
import { ended } from '../support/jobs-over-http.js';
import { serviceOfFile } from '../support/service-of-file.js';
import { until } from '../support/until.js';
import { startRowsWorld } from '../support/worlds/rows.js';

const on = serviceOfFile(() => startRowsWorld());
const { describe, test, open, visit } = browserOfFile();

/** A small evaluation, with names for the list. */
async function evaluate(name: string, tags: string[]): Promise<string> {
  const { dataset, scorer, policy } = on.world.job(4) as Record<string, object>;
  const candidate = { messages: [{ role: 'system', content: 'Answer.' }] };
  const { job_id } = await on.service.api.call<{ job_id: string }>('POST', '/api/v1/offline/jobs', {
    dataset,
    scorer,
    policy,
    candidate,
    name,
    tags,
  });
  return job_id;
}

describe('access', () => {
  test('needs a key, refuses a wrong one, and forgets it at the sign-out', async () => {
    const page = await visit(on.service.url);
    const key = page.getByLabel('API key');
    await key.fill('rk_wrong');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').waitFor();
    expect(await violations(page)).toEqual([]);

    await key.fill(on.service.apiKey);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Runs' }).waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await key.waitFor();
    expect(await page.evaluate('Object.values(localStorage).join()')).not.toContain(on.service.apiKey);
  });

  test('ends with the key', async () => {
    const body = { name: 'short', scopes: ['read'] };
    const { key, key_id } = await on.service.api.call<{ key: string; key_id: string }>(
      'POST',
      '/api/v1/admin/keys',
      body,
    );
    const page = await open({ url: on.service.url, apiKey: key });
    await page.getByRole('heading', { name: 'Runs' }).waitFor();
    const headers = { authorization: `Bearer ${on.service.apiKey}` };
    await fetch(`${on.service.url}/api/v1/admin/keys/${key_id}`, { method: 'DELETE', headers });
    // At its next request: a list of ended runs is seldom read again.
    await page.getByLabel('API key').waitFor({ timeout: 40_000 });
  });
});

test('all runs are listed, live, filtered by name, tag, kind and status', async () => {
  const page = await open(on.service, '#/', { viewport: { width: 1600, height: 800 } });
  await page.getByText('No runs yet.').waitFor();
  const id = await evaluate('first of all', ['nightly', 'team-a']);
  await evaluate('second', ['team-b']);
  const row = page.getByRole('row', { name: /first of all/ });
  await row.getByText('completed').waitFor();
  await row.getByRole('cell', { name: '0.000' }).waitFor();
  await row.getByText('4 / 4').waitFor();
  expect(await row.locator('.row-link').getAttribute('href')).toBe(`#/evaluations/${id}`);

  const names = () => page.locator('tbody .row-link').allTextContents();
  await until('both are listed', async () => (await names()).length === 2);
  expect(await names()).toEqual(['second', 'first of all']);
  await page.getByLabel('Search names').fill('FIRST');
  await until('the name filters', async () => String(await names()) === 'first of all');
  await page.getByLabel('Search names').fill('');
  await page.getByRole('button', { name: 'team-b' }).click();
  await until('the tag filters', async () => String(await names()) === 'second');
  await page.getByLabel('Tag').fill('');
  await page.getByLabel('Kind').selectOption('Sessions');
  await page.getByText('No run passes the filter.').waitFor();
  await page.getByLabel('Kind').selectOption('All kinds');
  await page.getByLabel('Status').selectOption('completed');
  await until('the status filters', async () => (await names()).length === 2);
});

describe('a list of ended runs', () => {
  const names = ['rows one', 'rows two', 'سطور'];
  beforeAll(async () => {
    for (const name of names) await ended(on.service, await evaluate(name, ['ended']));
  }, 60_000);

  test('has one line for each, without a bar of progress, in the direction of its name', async () => {
    const page = await open(on.service, '#/?tag=ended');
    const rows = page.locator('tbody tr');
    await until('all are listed', async () => (await rows.count()) === names.length);
    const heights = await rows.evaluateAll((all) => all.map((row) => row.getBoundingClientRect().height));
    expect(Math.max(...heights)).toBeLessThan(45);
    expect(await page.getByRole('progressbar').count()).toBe(0);
    const directions = await page.evaluate(
      "[...document.querySelectorAll('tbody .row-link')].map((link) => getComputedStyle(link).direction)",
    );
    expect(directions).toEqual(['rtl', 'ltr', 'ltr']);
  });

  test('compares selected ones from a bar in view', async () => {
    const page = await open(on.service, '#/?tag=ended', { viewport: { width: 1280, height: 300 } });
    const box = (name: string) => page.getByRole('checkbox', { name: `Select ${name}` });
    const bar = page.getByRole('region', { name: 'Selected runs' });
    await box('rows one').check();
    await bar.getByText('1 selected').waitFor();
    await box('rows two').check();
    await page.evaluate('scrollTo(0, 0)');
    const { y, height } = (await bar.boundingBox())!;
    expect(y + height).toBeLessThanOrEqual(300);
    await box('سطور').check();
    await bar.getByRole('link', { name: 'Compare 3' }).waitFor();
    await box('سطور').uncheck();
    await bar.getByRole('link', { name: 'Compare 2' }).click();
    await page.getByRole('region', { name: 'Verdict' }).waitFor();
  });

  test('asks for new runs alone, now and then', async () => {
    const page = await open(on.service, '#/new');
    await page.clock.install();
    await page.goto(`${on.service.url}/#/?tag=ended`);
    await page.getByRole('row', { name: /rows one/ }).waitFor();
    let requests = 0;
    page.on('request', (request) => (requests += request.url().includes('/api/') ? 1 : 0));
    for (let seconds = 0; seconds < 14; seconds += 2) await page.clock.runFor(2_000);
    expect(requests).toBe(0);
    const fresh = await evaluate('rows three', ['ended']);
    await page.clock.runFor(2_000);
    await until('the new run is listed', async () => {
      await page.clock.runFor(2_000);
      return page.locator(`a[href="#/evaluations/${fresh}"]`).isVisible();
    });
  });

  test('tells times in the zone of the reader, with the date of another day', async () => {
    const options = { timezoneId: 'Asia/Tokyo' };
    const page = await open(on.service, '#/?tag=ended', options);
    const time = page.getByRole('row', { name: /rows one/ }).locator('time');
    await time.waitFor();
    expect(await time.getAttribute('title')).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d GMT\+9$/);
    const at = Date.parse((await time.getAttribute('datetime'))!);
    const inTokyo = new Date(at + 9 * 3_600_000).toISOString();
    await page.clock.setFixedTime(at + 2 * 86_400_000);
    await page.reload();
    await time.getByText(inTokyo.slice(0, 10), { exact: true }).waitFor();
  });

  test('a page names its tab, and has the focus on its heading after a click', async () => {
    const page = await open(on.service, '#/?tag=ended');
    await page
      .getByRole('row', { name: /rows one/ })
      .getByRole('link', { name: 'rows one' })
      .click();
    const heading = page.getByRole('heading', { level: 1 });
    await heading.getByText('rows one').waitFor();
    const isFocused = () => heading.evaluate((element) => element.matches(':focus'));
    await until('the heading has the focus', isFocused);
    expect(await page.title()).toBe('rows one · Ratchet');
    await page.getByRole('link', { name: 'Deployments' }).click();
    await heading.getByText('Deployments').waitFor();
    await until('the heading has the focus', isFocused);
    expect(await page.title()).toBe('Deployments · Ratchet');
  });
});

test.each([
  { width: 1280, colorScheme: 'light' as const },
  { width: 1280, colorScheme: 'dark' as const },
  { width: 390, colorScheme: 'light' as const },
])('nothing serious for axe and no overflow at %o', async ({ width, colorScheme }) => {
  const page = await open(on.service, '#/', { viewport: { width, height: 800 }, colorScheme });
  await page.getByRole('table').waitFor();
  expect(await violations(page)).toEqual([]);
  expect(await isTooWide(page)).toBe(false);
});
