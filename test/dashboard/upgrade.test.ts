import { afterAll, beforeAll, expect } from '@jest/globals';
import { cp, mkdtemp, rm, stat, utimes, writeFile, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import fastify from 'fastify';
import { serializerCompiler, validatorCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod';
import type { App, HttpDeps } from '../../src/platform/http/deps.js';
import { registerDashboard } from '../../src/platform/http/dashboard/routes.js';
import { browserOfFile } from '../support/browser.js';

const { test, visit } = browserOfFile();
let folder: string;
let app: App;
let url: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ratchet-dashboard-'));
  await cp(resolve(import.meta.dirname, '../../dist/dashboard'), folder, { recursive: true });
  app = fastify().withTypeProvider<ZodTypeProvider>() as unknown as App;
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  await registerDashboard(app, { version: '0.0.0', loginTokens: null } as HttpDeps, `${folder}/`);
  url = await app.listen({ host: '127.0.0.1', port: 0 });
});
afterAll(async () => {
  await app.close();
  await rm(folder, { recursive: true });
});

test('the next plain visit after an upgrade runs the new dashboard', async () => {
  const page = await visit(url);
  const language = () => page.evaluate<string>('document.documentElement.lang');
  await page.getByLabel('API key').waitFor();
  expect(await language()).toBe('en');

  // As long as before and as old as before, as files of a package are.
  const index = join(folder, 'index.html');
  const { atime, mtime } = await stat(index);
  await writeFile(index, (await readFile(index, 'utf8')).replace('lang="en"', 'lang="fr"'));
  await utimes(index, atime, mtime);

  const next = await page.context().newPage();
  await next.goto(url);
  expect(await next.evaluate('document.documentElement.lang')).toBe('fr');
  await page.goto('about:blank');
  await page.goto(url);
  expect(await language()).toBe('fr');
});
