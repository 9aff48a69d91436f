import { expect } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { sampleSession } from '../support/dashboard-jobs.js';
import { choose } from '../support/actions.js';
import { browserOfFile, isTooWide, violations } from '../support/browser.js';
import { createSession, ended } from '../support/jobs-over-http.js';
import { serviceOfFile } from '../support/service-of-file.js';

const on = serviceOfFile();
const { test, open, visit } = browserOfFile();
const shoot = process.env['SHOTS'];

test('the report of a run is a file that opens anywhere and asks nobody for anything', async () => {
  const id = await createSession(on.service, sampleSession(150));
  await ended(on.service, id, 120);
  const page = await open(on.service, `#/sessions/${id}`);
  const saving = page.waitForEvent('download');
  await choose(page, 'Report');
  const download = await saving;
  expect(download.suggestedFilename()).toBe(`report-${id}.html`);
  const path = join(tmpdir(), download.suggestedFilename());
  await download.saveAs(path);
  const file = pathToFileURL(path).href;

  for (const colorScheme of ['light', 'dark'] as const)
    for (const width of [390, 1440]) {
      const report = await visit('about:blank', { viewport: { width, height: 900 }, colorScheme, offline: true });
      const asked: string[] = [];
      report.on('request', (request) => asked.push(request.url()));
      await report.goto(file);
      expect(asked).toEqual([file]);
      for (const name of ['Measured', 'What changed', 'Rows', 'Settings', 'Cost', 'Run it again'])
        await report.getByRole('heading', { name, exact: true }).waitFor();
      expect(await isTooWide(report)).toBe(false);
      if (shoot)
        writeFileSync(`${shoot}/report-${width}-${colorScheme}.png`, await report.screenshot({ fullPage: true }));
      expect(await violations(report)).toEqual([]);
      // Paper has nothing to unfold.
      await report.emulateMedia({ media: 'print' });
      const folded = await report.locator('details > :not(summary)').all();
      expect(folded.length).toBeGreaterThan(0);
      for (const each of folded) expect(await each.evaluate((element) => element.checkVisibility())).toBe(true);
    }
}, 300_000);
