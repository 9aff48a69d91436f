import { expect } from '@jest/globals';
import { browserOfFile, isTooWide, violations } from '../support/browser.js';
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
    ...{ dataset, scorer, policy, candidate, name, tags },
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
    await page.getByLabel('API key').waitFor({ timeout: 15_000 });
  });
});

test('all runs are listed, live, filtered by name, tag, kind and status', async () => {
  const page = await open(on.service);
  await page.getByText('No runs yet.').waitFor();
  const id = await evaluate('first of all', ['nightly', 'team-a']);
  await evaluate('second', ['team-b']);
  const row = page.getByRole('row', { name: /first of all/ });
  await row.getByText('completed').waitFor();
  await row.getByRole('cell', { name: '0.000' }).waitFor();
  await row.getByText('4 / 4').waitFor();
  expect(await row.getByRole('link').getAttribute('href')).toBe(`#/evaluations/${id}`);

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
