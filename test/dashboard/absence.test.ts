import { expect } from '@jest/globals';
import { browserOfFile } from '../support/browser.js';
import { gate } from '../support/gate.js';
import { createSession, ended, eventsOf } from '../support/jobs-over-http.js';
import { serviceOfFile } from '../support/service-of-file.js';
import { startTcpProxies } from '../support/servers/tcp-proxies.js';
import { until } from '../support/until.js';
import { startRowsWorld } from '../support/worlds/rows.js';

const on = serviceOfFile(() => startRowsWorld());
const { test, open } = browserOfFile();

test('a laptop that was closed for an hour shows all events and the end', async () => {
  const { opened, open: answer } = gate();
  on.world.model.reply(async (request) => {
    await opened;
    return on.world.answer(request);
  });
  const gepa = { generations: 4, population_size: 2 };
  const id = await createSession(on.service, { ...on.world.job(40), gepa, budget: { max_rollouts: 200 } });
  const proxies = await startTcpProxies({ service: new URL(on.service.url).host });
  try {
    const target = { url: `http://${proxies.addresses.service}`, apiKey: on.service.apiKey };
    const page = await open(target, '#/');
    await page.clock.install();
    await page.goto(`${target.url}/#/sessions/${id}?tab=events`);
    await page.getByText('live', { exact: true }).waitFor();
    const before = await eventsOf(on.service, id);

    proxies.silence();
    answer();
    await ended(on.service, id);
    await page.clock.fastForward('01:00:00');
    const events = await eventsOf(on.service, id);
    expect(events.length).toBeGreaterThan(before.length);
    const all = page.getByRole('status').getByText(`${events.at(-1)!.seq} events`);
    const end = page.getByRole('heading', { level: 1 }).getByText('completed');
    await until('all events and the end are shown', async () => {
      // Requests over a connection from before the sleep reach their time limits.
      await page.clock.fastForward(10_000);
      return (await all.isVisible()) && end.isVisible();
    });
  } finally {
    await proxies.close();
  }
}, 60_000);
