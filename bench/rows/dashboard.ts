import { chromium, type Page } from 'playwright-core';
import { findChromium } from '../../test/support/chromium.js';
import { largeSession } from '../growth/fill.js';
import { largeRows, size, type LargeRows } from '../growth/large-rows.js';
import { smallSession } from '../growth/templates.js';
import { percentile } from '../stats.js';
import type { Row } from '../table.js';
import type { World } from '../world.js';

const scrollMs = 4_000;
const rows = size.rows.toLocaleString('en-US');

/** A long list of a page. `page`: its address. */
interface List {
  name: string;
  page: string;
  role: 'list' | 'table';
  label: string;
}

const listsOf = (large: string, { jobId, candidateIds }: LargeRows): List[] => [
  { name: '100,000 events', page: `#/sessions/${large}?tab=events`, role: 'list', label: 'Events' },
  { name: '500 candidates', page: `#/sessions/${large}?tab=candidates`, role: 'table', label: 'Table of candidates' },
  { name: `${rows} rows`, page: `#/sessions/${jobId}?tab=rows`, role: 'table', label: 'Rows' },
  { name: `${rows} rows beside a review`, page: `#/sessions/${jobId}?tab=rows&row=0`, role: 'table', label: 'Rows' },
  {
    name: `${rows} rows of ${size.candidates} columns`,
    page: `#/compare?ids=${candidateIds.join(',')}`,
    role: 'table',
    label: 'Rows with all answers',
  },
];

/** Frames while long lists scroll, beside an empty box that scrolls in the same browser. */
export async function run(world: World): Promise<Row[]> {
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error('Chromium is not installed (Debian: apt install chromium)');
  const { jobId } = await smallSession(world);
  const large = await largeSession(world.postgres, jobId);
  const lists = listsOf(large, await largeRows(world.postgres, jobId));
  // As autovacuum does while events come in.
  await world.postgres.query('vacuum analyze');
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    const ideal = await scroll(await emptyBox(page));
    await page.goto(world.url);
    await page.evaluate(`localStorage.setItem('ratchet.key', ${JSON.stringify(world.apiKey)})`);
    await page.reload();
    const measured: Row[] = [];
    for (const { name, page: address, role, label } of lists) {
      await page.goto(`${world.url}/${address}`);
      const list = page.getByRole(role, { name: label, exact: true });
      await list.waitFor({ timeout: 120_000 });
      if (label === 'Events') await page.getByText(/^1\d\d,\d{3} events$/).waitFor({ timeout: 120_000 });
      const frames = await scroll((await list.elementHandle())!);
      measured.push({
        what: `dashboard: frames a second while ${name} scroll`,
        value: rate(frames),
        unit: '',
        beside: { what: 'an empty box', value: rate(ideal) },
        aim: { of: 'ratio', least: 0.95 },
        raw: {
          frames: frames.length,
          p50: percentile(frames, 50),
          p99: percentile(frames, 99),
          most: Math.max(...frames),
        },
      });
    }
    return measured;
  } finally {
    await browser.close();
  }
}

/** What the scripts need of a page: the tests' types have no DOM. */
interface InPage {
  requestAnimationFrame(step: (now: number) => void): void;
}

type Box = NonNullable<Awaited<ReturnType<Page['$']>>>;

async function emptyBox(page: Page): Promise<Box> {
  const script = `(() => {
    const [box, space] = [document.createElement('div'), document.createElement('div')];
    box.style.cssText = 'height: 600px; overflow: auto';
    space.style.height = '4000000px';
    box.append(space);
    document.body.replaceChildren(box);
    return box;
  })()`;
  return (await page.evaluateHandle(script)) as Box;
}

/** Scrolls for a while; the time of each frame in milliseconds. */
function scroll(box: Box): Promise<number[]> {
  return box.evaluate(
    (element, ms) =>
      new Promise<number[]>((resolve) => {
        const { requestAnimationFrame: frame } = globalThis as unknown as InPage;
        const times: number[] = [];
        const from = performance.now();
        let last = from;
        const step = (now: number) => {
          times.push(now - last);
          last = now;
          element.scrollTop += 120;
          if (now - from < ms) frame(step);
          else resolve(times.slice(1));
        };
        frame(step);
      }),
    scrollMs,
  );
}

const rate = (frames: number[]) => (frames.length * 1_000) / frames.reduce((sum, each) => sum + each, 0);
