import { beforeAll, expect } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { readPromptfoo } from '../../src/cli/task/promptfoo.js';
import { browserOfFile, isTooWide, violations } from '../support/browser.js';
import { createSession, ended } from '../support/jobs-over-http.js';
import { serviceOfFile } from '../support/service-of-file.js';
import { until } from '../support/until.js';
import { answerRule, startRowsWorld } from '../support/worlds/rows.js';
import { propose } from '../support/worlds/rules.js';

// What the winner of a session changed, with evidence, and an evaluation without one edit.

const on = serviceOfFile(() => startRowsWorld());
const { test, open } = browserOfFile();

const baseline = 'Answer well.\n- tone: kind\n- length: short';

let id: string;
beforeAll(async () => {
  // Each proposal has one rule more, and its first line last.
  on.world.model.reply((request) => {
    if (request.body.model !== 'proposer') return { text: answerRule(request.body.messages)! };
    const [, current] = /```\n([^]*)\n```/.exec(propose(request))!;
    const [first, ...others] = current!.split('\n');
    return { text: `\`\`\`\n${[...others, first].join('\n')}\n\`\`\`` };
  });
  const gepa = { population_size: 1, generations: 3 };
  const prompt = { messages: [{ role: 'system', content: baseline }] };
  id = await createSession(on.service, {
    ...on.world.job(60),
    initial_prompt: prompt,
    gepa,
    heldout_rows: 20,
    budget: { max_rollouts: 400 },
  });
  await ended(on.service, id);
}, 90_000);

const edits = (page: Page) => page.getByRole('list', { name: 'Edits' }).getByRole('listitem');

test('lists moves and additions with their rows, and measures one edit alone', async () => {
  const page = await open(on.service, `#/sessions/${id}?tab=prompt`);
  await edits(page).first().waitFor();
  const added = edits(page).filter({ has: page.getByRole('img', { name: 'added' }) });
  const moved = edits(page).filter({ has: page.getByRole('img', { name: 'moved' }) });
  expect([(await added.count()) > 0, (await moved.count()) > 0]).toEqual([true, true]);
  expect(
    await edits(page)
      .filter({ has: page.locator('del') })
      .count(),
  ).toBe(0);
  expect(await violations(page)).toEqual([]);

  const first = added.first();
  // Each proposal adds a rule and moves a line, so its rows speak for neither alone.
  expect(await first.textContent()).toMatch(/rule-\d\..*#\d+, one of its 2 edits/s);
  expect(
    await edits(page)
      .getByText(/\+\d+ rows/)
      .count(),
  ).toBe(0);
  const together = page.getByRole('region', { name: 'Edits made together' }).getByRole('listitem');
  expect(await together.first().textContent()).toMatch(/#\d+: 2 edits together, from row \d+.*\+\d+ rows, −0/s);
  await together
    .first()
    .getByRole('link', { name: /^row \d+$/ })
    .first()
    .click();
  await page.getByRole('dialog', { name: /^Trace of/ }).waitFor();
  await page.keyboard.press('Escape');

  await first.getByRole('button', { name: 'Without this line' }).click();
  const dialog = page.getByRole('dialog', { name: 'Evaluate without this line' });
  await dialog.getByText('20 rollouts').waitFor();
  expect(await dialog.textContent()).toContain('20 held-out rows');
  await dialog.getByRole('button', { name: 'Start' }).click();
  await first.getByText(/Without it −0\.\d+ .*on 20 held-out rows/).waitFor();
  await page.reload();
  await first.getByRole('link', { name: 'compare' }).click();
  await until('the comparison is open', async () => page.url().includes('/compare?a=evl_'));
});

test('names the author of each sentence to pointer and keyboard', async () => {
  const page = await open(on.service, `#/sessions/${id}?tab=prompt&view=blame`);
  const sentence = page.getByRole('button', { name: /^rule-\d\., #\d+$/ }).first();
  await sentence.hover();
  const evidence = page.getByRole('complementary', { name: 'Evidence' });
  await evidence.getByText(/\+\d+ rows, −0/).waitFor();
  await sentence.focus();
  await page.keyboard.press('Home');
  const first = await page.evaluate('document.activeElement.textContent');
  await evidence.getByText(first as string).waitFor();
  expect(page.url()).toContain('sentence=system');
  expect(await violations(page)).toEqual([]);
});

test('copies a configuration that the reader of promptfoo takes, and a pull request', async () => {
  const page = await open(on.service, `#/sessions/${id}?tab=prompt&view=changes`, {
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  await edits(page).first().waitFor();
  const copied = async (form: string) => {
    await page.getByRole('combobox', { name: 'Copy as' }).selectOption(form);
    await page.getByRole('button', { name: 'Copy', exact: true }).first().click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    const text = (await page.evaluate('navigator.clipboard.readText()')) as string;
    await page.getByRole('button', { name: 'Copied' }).waitFor({ state: 'detached' });
    return text;
  };
  const config = JSON.parse(await copied('promptfoo')) as { tests: { vars: { input: string } }[] };
  expect(config.tests.length).toBeGreaterThan(0);
  expect(config.tests[0]!.vars.input).not.toBe('');
  const folder = await mkdtemp(join(tmpdir(), 'ratchet-'));
  const file = join(folder, 'promptfooconfig.yaml');
  const tests = [{ vars: { input: 'Row 0: rule 0' }, assert: [{ type: 'equals', value: 'needs rule-0.' }] }];
  await writeFile(file, JSON.stringify({ ...config, tests }));
  const best = await on.service.api.call<{ best_prompt: { messages: object[] } }>(
    'GET',
    `/api/v1/online/sessions/${id}/results`,
  );
  const read = await readPromptfoo(file, { model: 'local' });
  await rm(folder, { recursive: true });
  expect(read.prompt!.messages).toEqual(best.best_prompt.messages);

  const pull = await copied('Pull request');
  expect(pull).toContain(`ratchet diff ${id}`);
  expect(pull.split('\n').filter((line) => line.startsWith('| +')).length).toBeGreaterThan(0);
});

test('fits a phone', async () => {
  for (const view of ['changes', 'blame']) {
    const page = await open(on.service, `#/sessions/${id}?tab=prompt&view=${view}`, {
      viewport: { width: 390, height: 800 },
    });
    await page
      .getByText(/rule-\d\./)
      .first()
      .waitFor();
    expect([view, await isTooWide(page), await violations(page)]).toEqual([view, false, []]);
  }
});
