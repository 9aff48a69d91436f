import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';

declare global {
  var testServers: ChildProcess | undefined;
}

/**
 * Starts Temporal and Postgres once per run and bundles the workflows. Tests find them by
 * TEST_TEMPORAL_ADDRESS, TEST_TEMPORAL_FOLDER, TEST_DATABASE_URL (superuser) and
 * TEST_WORKFLOW_BUNDLE (a path).
 */
export default async function setup(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'ratchet-test-'));
  // Started by root, Postgres runs as another user, which needs access.
  chmodSync(folder, 0o755);
  const loader = join(import.meta.dirname, '../../../scripts/ts-loader.mjs');
  const servers = spawn(
    process.execPath,
    ['--import', loader, join(import.meta.dirname, '../servers/start.ts'), folder],
    {
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  );
  globalThis.testServers = servers;
  const [up] = await Promise.all([firstLine(servers), bundle(join(folder, 'workflow-bundle.js'))]);
  const { databaseUrl, temporalAddress } = JSON.parse(up) as Record<string, string>;
  Object.assign(process.env, {
    TEST_DATABASE_URL: databaseUrl,
    TEST_TEMPORAL_ADDRESS: temporalAddress,
    TEST_TEMPORAL_FOLDER: join(folder, 'data', 'temporal'),
  });
}

async function firstLine(servers: ChildProcess): Promise<string> {
  const lines = createInterface({ input: servers.stdout! });
  const ended = once(servers, 'exit').then(([code]) => {
    throw new Error(`the servers of the tests did not start (exit code ${code}); see above`);
  });
  const [line] = (await Promise.race([once(lines, 'line'), ended])) as [string];
  ended.catch(() => undefined);
  return line;
}

async function bundle(file: string): Promise<void> {
  const workflows = join(import.meta.dirname, '../../../workflows');
  const workflowsPath = join(workflows, 'index.ts');
  if (!existsSync(workflowsPath)) return;
  const { code } = await bundleWorkflowCode({
    workflowsPath,
    preloadModules: [join(workflows, 'preload.ts')],
    failureConverterPath: join(workflows, 'failure-converter.ts'),
    payloadConverterPath: join(workflows, 'payload-converter.ts'),
    workflowInterceptorModules: [join(workflows, 'ownership.ts'), join(workflows, 'interceptors.ts')],
    logger: new DefaultLogger('WARN'),
    // Sources import './x.ts' as './x.js'.
    webpackConfigHook: (config) => ({
      ...config,
      resolve: { ...config.resolve, extensionAlias: { '.js': ['.ts', '.js'] } },
    }),
  });
  writeFileSync(file, code);
  process.env.TEST_WORKFLOW_BUNDLE = file;
}
