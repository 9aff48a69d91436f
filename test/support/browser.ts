/** Real Chromium for the tests of the dashboard. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import axe from 'axe-core';
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';
import { findChromium } from './chromium.js';

/** A service and its key. */
interface Target {
  url: string;
  apiKey: string;
}

export interface BrowserOfFile {
  describe: typeof describe | typeof describe.skip;
  test: typeof test | typeof test.skip;
  /** A page that is signed in, at a fragment such as `#/new`. */
  open(target: Target, fragment?: string, options?: BrowserContextOptions): Promise<Page>;
  /** A page of a browser that has never seen the service. */
  visit(url: string, options?: BrowserContextOptions): Promise<Page>;
}

/**
 * One browser for all tests of a file; they skip, with a word, where there is none. A test fails if
 * its pages logged an error, as for a violated content policy, or threw.
 */
export function browserOfFile(): BrowserOfFile {
  const executablePath = findChromium();
  let browser: Browser;
  const errors: string[] = [];
  if (executablePath === undefined) {
    process.stderr.write(
      'The tests of the dashboard are skipped: they need Chromium (Debian: apt install chromium).\n',
    );
  } else {
    beforeAll(async () => {
      browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
    }, 60_000);
    afterEach(async () => {
      await Promise.all(browser.contexts().map((context) => context.close()));
      expect(errors.splice(0)).toEqual([]);
    });
    afterAll(() => browser.close());
  }

  const visit = async (url: string, options: BrowserContextOptions = {}): Promise<Page> => {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
    const page = await context.newPage();
    page.on('pageerror', ({ message }) => errors.push(message));
    page.on('console', (message) => {
      // Chromium logs each answer over 399; tests check what the page says of it.
      if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) {
        errors.push(message.text());
      }
    });
    await page.goto(url);
    return page;
  };

  return {
    ...(executablePath === undefined ? { describe: describe.skip, test: test.skip } : { describe, test }),
    visit,
    async open({ url, apiKey }, fragment = '#/', options = {}) {
      const origins = [{ origin: new URL(url).origin, localStorage: [{ name: 'ratchet.key', value: apiKey }] }];
      return visit(`${url}/${fragment}`, { storageState: { cookies: [], origins }, ...options });
    },
  };
}

/** The violations of accessibility and of its best practice, with the elements. */
export async function violations(page: Page): Promise<string[]> {
  // Evaluated by the debugger: the content policy of the page stays in force.
  await page.evaluate(axe.source);
  const found = await page.evaluate(async () => {
    const { axe: inPage } = globalThis as unknown as { axe: typeof axe };
    return (await inPage.run()).violations;
  });
  return found.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`));
}

/** Whether the page is wider than the window. */
export function isTooWide(page: Page): Promise<boolean> {
  return page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth');
}
