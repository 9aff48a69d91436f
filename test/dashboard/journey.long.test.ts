import { expect } from '@jest/globals';
import { join, resolve } from 'node:path';
import type { Page } from 'playwright-core';
import labels from '../../examples/intents/labels.json' with { type: 'json' };
import { firstFree } from '../../src/platform/embedded/ports.js';
import { treeOfFile } from '../harness/worlds/processes.js';
import { browserOfFile, isTooWide, violations } from '../support/browser.js';
import { screenshots } from '../support/environment.js';
import { until } from '../support/until.js';

// A user of the dashboard: a run from the form, watched to its end across a kill -9 of the service,
// its winner deployed and tried. SCREENSHOTS=1 writes the pictures of the documentation.

const { test, visit, open } = browserOfFile();
const pictures = resolve(import.meta.dirname, '../../docs/images');
// The page finds the service again where it was.
const on = treeOfFile(async () => ({ env: { PORT: String(await firstFree()) }, close: () => Promise.resolve() }));

const picture = async (page: Page, name: string) => {
  if (!screenshots) return;
  // A button under the pointer looks disabled.
  await page.mouse.move(0, 0);
  await page.screenshot({ path: join(pictures, `${name}.png`) });
};
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const status = (page: Page, name: string) => page.getByRole('heading', { level: 1 }).getByText(name);
const idOf = (page: Page) => /ses_\w+/.exec(page.url())![0];

async function expectUsable(page: Page): Promise<void> {
  expect(await violations(page)).toEqual([]);
  expect(await isTooWide(page)).toBe(false);
}

test('a run from the form is paused, survives a kill -9, ends, is deployed and answers', async () => {
  const page = await open({ url: on.tree.url, apiKey: on.tree.apiKey }, '#/new?sample=1');
  const start = button(page, 'Start');
  await until('the estimate is there', () => start.isEnabled());
  await page.getByRole('listitem').filter({ hasText: 'held-out' }).waitFor();
  await expectUsable(page);
  await picture(page, 'new-run');
  await start.click();

  await button(page, 'Pause').click();
  await status(page, 'paused').waitFor();
  const paused = await on.tree.api.call<{ progress: { rollouts_completed: number } }>(
    'GET',
    `/api/v1/online/sessions/${idOf(page)}`,
  );
  await on.tree.kill();
  await page.getByRole('tab', { name: 'Events' }).click();
  await page.getByText('reconnecting').waitFor();
  await on.tree.start();
  await page.getByText('live', { exact: true }).waitFor({ timeout: 60_000 });
  await page.getByRole('tab', { name: 'Overview' }).click();
  await button(page, 'Resume').click();
  await status(page, 'completed').waitFor({ timeout: 120_000 });
  expect(paused.progress.rollouts_completed).toBeLessThan(250);
  await page.getByText('Better on rows that the search never saw').waitFor();
  await expectUsable(page);
  await picture(page, 'session');

  // As many events as the service has, though the stream broke.
  await page.getByRole('tab', { name: 'Events' }).click();
  const { events } = await on.tree.api.call<{ events: { seq: number }[] }>(
    'GET',
    `/api/v1/online/sessions/${idOf(page)}/events?limit=1000`,
  );
  await page
    .getByRole('status')
    .getByText(`${events.at(-1)!.seq} events`)
    .waitFor();

  await page.getByRole('tab', { name: 'Candidates' }).click();
  await expectUsable(page);
  await page.getByRole('row').filter({ hasText: 'accepted' }).getByRole('link').first().click();
  const candidate = page.getByRole('dialog');
  await candidate.locator('ins').first().waitFor();
  await expectUsable(page);
  await picture(page, 'candidate');
  await page.keyboard.press('Escape');
  await candidate.waitFor({ state: 'detached' });

  await page.getByRole('tab', { name: 'Why' }).click();
  await page.getByRole('region', { name: 'Lineage' }).waitFor();
  await expectUsable(page);
  await picture(page, 'why');

  await page.getByRole('group', { name: 'Actions' }).getByRole('link', { name: 'Deploy the winner' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill('sample');
  await button(page, 'Deploy').click();
  await page.getByRole('dialog').getByText('ready', { exact: true }).waitFor({ timeout: 60_000 });
  await page.getByRole('dialog').getByRole('link', { name: 'Playground' }).click();

  await page.getByRole('region', { name: 'Input', exact: true }).getByRole('textbox').fill('I lost my card');
  await button(page, 'Send').click();
  await page.getByText('Total', { exact: true }).waitFor();
  // The found prompt decides which label it is.
  expect(Object.keys(labels)).toContain(await page.locator('.answer').innerText());
  await expectUsable(page);
  await picture(page, 'playground');
}, 300_000);

test('the link of the start signs one browser in, on the page that it names', async () => {
  const page = await visit(`${on.tree.loginUrl}/new`);
  await page.getByRole('heading', { name: 'New run' }).waitFor();
  expect(page.url()).toBe(`${on.tree.url}/#/new`);
  await page.getByRole('link', { name: 'Runs' }).click();
  await page.getByRole('heading', { name: 'Runs' }).waitFor();
  await picture(page, 'runs');
  const other = await visit(on.tree.loginUrl);
  await other.getByRole('alert').waitFor();
  await other.getByLabel('API key').waitFor();
}, 60_000);
