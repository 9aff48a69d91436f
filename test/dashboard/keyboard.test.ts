import { expect } from '@jest/globals';
import { browserOfFile } from '../support/browser.js';
import { createSession, ended } from '../support/jobs-over-http.js';
import { serviceOfFile } from '../support/service-of-file.js';
import { until } from '../support/until.js';
import { startRowsWorld } from '../support/worlds/rows.js';

const on = serviceOfFile(() => startRowsWorld());
const { test, open } = browserOfFile();

test('a session is read by keyboard alone', async () => {
  const gepa = { generations: 4, population_size: 2 };
  const id = await createSession(on.service, { ...on.world.job(20), gepa, budget: { max_rollouts: 150 } });
  await ended(on.service, id);
  const page = await open(on.service, `#/sessions/${id}`);
  const { keyboard } = page;
  const focused = page.locator(':focus');
  await page.getByRole('tab', { name: 'Overview' }).waitFor();

  await keyboard.press('Tab');
  expect(await focused.textContent()).toBe('Skip to the content');
  await keyboard.press('Enter');
  expect(await focused.getAttribute('id')).toBe('main');

  await page.getByRole('tab', { name: 'Overview' }).focus();
  await keyboard.press('ArrowRight');
  expect(await focused.textContent()).toBe('Rows');
  await keyboard.press('ArrowRight');
  expect(await focused.textContent()).toBe('Candidates');
  await page.getByRole('tabpanel', { name: 'Candidates' }).getByRole('table').waitFor();
  const link = page.getByRole('tabpanel').getByRole('link').first();
  await until('the first candidate has the focus', async () => {
    await keyboard.press('Tab');
    return link.evaluate((element) => element.matches(':focus'));
  });
  await keyboard.press('Enter');
  const dialog = page.getByRole('dialog');
  await dialog.waitFor();
  // The dialog, which scrolls and so takes the focus itself, keeps it.
  for (let n = 0; n < 40; n += 1) await keyboard.press('Tab');
  expect(await page.locator('main :not(dialog, dialog *):focus').count()).toBe(0);
  await keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });

  await page.getByRole('tab', { name: 'Candidates' }).focus();
  await keyboard.press('ArrowRight');
  const lineage = page.getByRole('group', { name: /^Lineage of/ });
  await lineage.getByRole('link', { name: /winner/ }).focus();
  await keyboard.press('Home');
  expect(await focused.getAttribute('aria-label')).toMatch(/^Candidate 0, baseline/);
  await keyboard.press('ArrowRight');
  expect(await focused.getAttribute('aria-label')).toMatch(/generation 1/);
  await keyboard.press('Enter');
  await dialog.waitFor();
}, 60_000);

test('the menu of a session opens, moves, and closes by keys, and fits a phone', async () => {
  const gepa = { generations: 1, population_size: 2 };
  const id = await createSession(on.service, { ...on.world.job(20), gepa, budget: { max_rollouts: 60 } });
  await ended(on.service, id);
  const page = await open(on.service, `#/sessions/${id}`, { viewport: { width: 390, height: 800 } });
  const { keyboard } = page;
  const focused = page.locator(':focus');
  const more = page.getByRole('button', { name: 'More' });
  await more.focus();
  await keyboard.press('Enter');
  const items = page.getByRole('menuitem');
  await until('the first item has the focus', () => items.first().evaluate((item) => item.matches(':focus')));
  await keyboard.press('ArrowDown');
  expect(await focused.textContent()).toBe(await items.nth(1).textContent());
  await keyboard.press('End');
  expect(await focused.textContent()).toBe('Download traces');
  const menu = (await page.getByRole('menu').boundingBox())!;
  expect(menu.x).toBeGreaterThanOrEqual(0);
  expect(menu.x + menu.width).toBeLessThanOrEqual(390);
  await keyboard.press('Escape');
  await page.getByRole('menu').waitFor({ state: 'detached' });
  expect(await more.evaluate((element) => element.matches(':focus'))).toBe(true);
  await keyboard.press('ArrowDown');
  await page.getByRole('menu').waitFor();
  await page.getByRole('heading', { level: 1 }).click();
  await page.getByRole('menu').waitFor({ state: 'detached' });
}, 60_000);
