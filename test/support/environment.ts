/** Environment of the test run; the only reader of process.env for test settings. */

/** Which suite runs: `npm test` is quick, `npm run test:all` is all. */
export const suite: 'quick' | 'all' = process.env['TEST_SUITE'] === 'all' ? 'all' : 'quick';

/** Repeats a run of a seeded test. */
export const givenSeed = process.env['TEST_SEED'];

/** Number of runs of each pure property. */
export const givenRuns = process.env['TEST_RUNS'] === undefined ? undefined : Number(process.env['TEST_RUNS']);

/** Level of the service's log. */
export const logLevel = (otherwise: string): string => process.env['TEST_LOG'] ?? otherwise;

/** Number of this jest worker; 0 outside of jest. */
export const workerId = process.env['JEST_WORKER_ID'] ?? '0';

/** One state sequence to repeat: seed, path and replay path. */
export const statesOnly = process.env['STATES_ONLY']?.split(' ') ?? [];

/** Options of pytest, to run a part of the Python package's tests: "-k adapters". */
export const pytestOptions = process.env['TEST_PYTEST']?.split(' ') ?? [];

/** Whether the tests of the dashboard write the pictures of the documentation. */
export const screenshots = process.env['SCREENSHOTS'] === '1';

/** Address of the run's Temporal server, as host:port. */
export const temporalAddress = (): string => fromSetup('TEST_TEMPORAL_ADDRESS');

/** Folder of that server's database. */
export const temporalFolder = (): string => fromSetup('TEST_TEMPORAL_FOLDER');

/** Superuser's URL of the run's Postgres. */
export const databaseUrl = (): string => fromSetup('TEST_DATABASE_URL');

/** Path of the bundled workflows. */
export const workflowBundlePath = (): string => fromSetup('TEST_WORKFLOW_BUNDLE');

function fromSetup(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: run the tests through jest, whose global setup sets it`);
  return value;
}

/** All cases, or in the quick suite the first ones, where each costs a process or a job. */
export function someOf<Case>(cases: readonly Case[], quick: number): readonly Case[] {
  return suite === 'all' ? cases : cases.slice(0, quick);
}
