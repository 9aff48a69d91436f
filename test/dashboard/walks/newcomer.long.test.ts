import { expect } from '@jest/globals';
import { browserOfFile, isTooWide, violations } from '../../support/browser.js';
import { ended, type Session } from '../../support/jobs-over-http.js';
import { newcomerPrompt, newcomerRows, newcomerTeams } from '../../support/newcomer.js';
import { lookOptions, looks } from '../../support/looks.js';
import { serviceOfFile } from '../../support/service-of-file.js';
import { until } from '../../support/until.js';

// A newcomer's natural prompt: from the file to the reason why the run found nothing, and on.

const on = serviceOfFile();
const { test, open } = browserOfFile();

test.each(looks)(
  'a run whose prompt names no label ends at the reason, with rows and a better form, at %o',
  async (look) => {
    const page = await open(on.service, '#/new', lookOptions(look));
    const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
    const csv = ['message,team', ...newcomerRows().map(({ message, team }) => `${quoted(message)},${team}`)];
    const file = { name: 'messages.csv', mimeType: 'text/csv', buffer: Buffer.from(csv.join('\n')) };
    await page.getByLabel('Drop or choose a file').setInputFiles(file);
    await page.getByText('60 rows', { exact: true }).waitFor();
    await page.getByLabel('Text of message 1').fill(newcomerPrompt);
    const start = page.getByRole('button', { name: 'Start', exact: true });
    await until('the estimate is there', () => start.isEnabled());
    await start.click();
    const id = await until('the page is that of the run', () => Promise.resolve(/ses_\w+/.exec(page.url())?.[0]));
    await ended<Session>(on.service, id, 200);

    const card = page.getByRole('region', { name: 'What happened' });
    await card.getByText(/All \d+ answers were wrong: the prompt does not name the 4 labels/).waitFor();
    const rows = card.locator('tbody tr');
    expect(await rows.count()).toBe(3);
    for (const row of await rows.all()) {
      expect(newcomerTeams).toContain(await row.locator('td').nth(1).textContent());
    }
    const [above, below] = await Promise.all(
      ['What happened', 'Verdict'].map((name) => page.getByRole('region', { name, exact: true }).boundingBox()),
    );
    const chart = await page.locator('.chart').first().boundingBox();
    expect(above!.y).toBeLessThan(below!.y);
    expect(below!.y).toBeLessThan(chart!.y);
    const proposals = page.locator('.stat', { hasText: 'Proposals' });
    expect(await proposals.textContent()).toMatch(/\d+ repeated a known text/);
    expect(await page.locator('.actions .button-primary').count()).toBe(0);

    expect(await violations(page)).toEqual([]);
    expect(await isTooWide(page)).toBe(false);
    await rows.first().getByRole('link').click();
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');

    await card.getByRole('button').click();
    await page.getByText('60 rows', { exact: true }).waitFor();
    const prompt = await page.getByLabel('Text of message 1').inputValue();
    for (const team of newcomerTeams) expect(prompt).toContain(team);
    expect(prompt).toContain(newcomerPrompt);
  },
  400_000,
);
