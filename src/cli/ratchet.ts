#!/usr/bin/env node
import closeWithGrace from 'close-with-grace';
import { Command } from 'commander';
import { ConfigError, readConfig, type Config, type Roles } from '../config.js';
import { StartupError } from '../embedded/errors.js';
import { createLog } from '../log.js';
import { startService, type Service } from '../main.js';
import { MigrationError } from '../storage/db/migrate.js';
import { DatabaseMismatchError } from '../storage/db/start-check.js';
import { TemporalUnreachableError } from '../temporal/connection.js';
import { SearchAttributesError } from '../temporal/search-attributes.js';
import { version } from '../version.js';
import { installRuntime } from '../worker.js';
import { demo } from './demo.js';

const shutdownMs = 30_000;

async function run(roles: Roles): Promise<void> {
  const config = readConfig();
  const log = createLog(config);
  installRuntime(log);
  const service = await startService(config, roles, log);
  closeWithGrace({ delay: shutdownMs, logger: log }, async ({ err }) => {
    if (err) log.error({ err }, 'stopping after an error');
    await service.stop();
  });
  announce(service, config, roles);
  try {
    await service.ended;
  } catch (error) {
    await service.stop();
    throw error;
  }
}

function announce(service: Service, config: Config, roles: Roles): void {
  const lines = [
    service.url && `API          ${service.url}   (docs: ${service.url}/docs)`,
    service.temporalUi && `Temporal UI  ${service.temporalUi}`,
    service.url &&
      (service.apiKeyCreated
        ? `API key      ${service.apiKey}   (kept in ${config.dataDir}/api-key)`
        : `API key      ${config.apiKey ? 'from RATCHET_API_KEY' : `in ${config.dataDir}/api-key`}`),
    roles.work && 'Worker       polling',
  ];
  process.stdout.write(
    `Ratchet ${version}\n${lines.filter(Boolean).join('\n')}\nReady. Stop with Ctrl-C; running jobs continue at the next start.\n`,
  );
}

const userErrors = [
  ConfigError,
  StartupError,
  MigrationError,
  DatabaseMismatchError,
  TemporalUnreachableError,
  SearchAttributesError,
];

/** Prints a user's mistake in one line and an internal error with its stack. */
function explain(error: unknown): never {
  if (userErrors.some((kind) => error instanceof kind)) {
    process.stderr.write(`ratchet: ${(error as Error).message}\n`);
    process.exit(error instanceof ConfigError ? 2 : error instanceof StartupError ? error.exitCode : 1);
  }
  const code = (error as NodeJS.ErrnoException).code;
  if (code === 'EADDRINUSE') {
    process.stderr.write(
      `ratchet: ${(error as Error).message}: the port is in use; set PORT to another port, or to 0 for a free one.\n`,
    );
    process.exit(1);
  }
  process.stderr.write(`ratchet: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  process.exit(1);
}

const examples = `
Without a command, ratchet runs dev.

Examples:
  $ ratchet demo                                a session on the sample, without a key
  $ PORT=9000 ratchet dev                       the whole service on another port
  $ DATABASE_URL=postgres://… ratchet serve     the API beside your own Postgres

Settings are environment variables: docs/settings.md. Exit codes: 1 failed, 2 wrong usage.`;

const program = new Command('ratchet')
  .description('Finds better prompts for a task that can score them.')
  .version(version)
  .addHelpText('after', examples)
  .showHelpAfterError('Run "ratchet --help" for the commands and examples.')
  // Help and version end with 0.
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2));
program
  .command('dev')
  .description('API, worker, embedded Temporal and Postgres in one process tree')
  .action(() => run({ serve: true, work: true }));
program
  .command('serve')
  .description('the API alone')
  .action(() => run({ serve: true, work: false }));
program
  .command('worker')
  .description('a worker alone')
  .action(() => run({ serve: false, work: true }));
program
  .command('demo')
  .description('a GEPA session on the sample container, then baseline and winner on unseen seeds')
  .option('--keep', 'keep the service running afterwards')
  .option('--provider <name>', 'provider of model calls', 'local')
  .option('--model <name>', 'model name')
  .action(demo);
const given = process.argv.slice(2);
program.parseAsync(given.length > 0 ? given : ['dev'], { from: 'user' }).catch(explain);
