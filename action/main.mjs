// Runs `ratchet check` for a pull request: summary, outputs, comment, and the gate's exit code.
import { execFileSync, spawn } from 'node:child_process';
import { appendFileSync, existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { text } from 'node:stream/consumers';
import { upsertComment } from './comment.mjs';

const { env } = process;
const ratchet = join(dirname(fileURLToPath(import.meta.url)), '../scripts/run.mjs');
const options = ['prompt', 'data', 'input', 'expected', 'scorer', 'model', 'min-reward', 'min-improvement'];
const given = (name) => env[`CHECK_${name.toUpperCase().replaceAll('-', '_')}`] || undefined;

const against = given('against');
if (!against) fail('against is needed outside of pull requests: the commit, branch or tag to compare with.');
const commit = commitOf(against);

const report = join(mkdtempSync(join(tmpdir(), 'ratchet-check-')), 'report.md');
const { code, out } = await check();
if (!existsSync(report)) process.exit(code || 1);
const markdown = readFileSync(report, 'utf8');
if (env.GITHUB_STEP_SUMMARY) appendFileSync(env.GITHUB_STEP_SUMMARY, markdown);
const result = JSON.parse(out);
if (env.GITHUB_OUTPUT) appendFileSync(env.GITHUB_OUTPUT, outputsOf(result));
await comment(markdown, result.prompt);
// null: a signal ended the check.
process.exit(code ?? 1);

/** The commit of a ref, fetched if needed: a checkout of depth 1 has no base. */
function commitOf(ref) {
  const git = (...args) => execFileSync('git', args, { stdio: ['ignore', 'pipe', 'pipe'], encoding: 'utf8' }).trim();
  try {
    return git('rev-parse', '--verify', '--end-of-options', `${ref}^{commit}`);
  } catch {
    try {
      git('fetch', '--depth=1', 'origin', '--', ref);
      return git('rev-parse', 'FETCH_HEAD^{commit}');
    } catch (error) {
      return fail(`against: git cannot fetch ${ref} from origin: ${error.stderr?.trim() || error.message}`);
    }
  }
}

async function check() {
  const flags = options.flatMap((name) => (given(name) ? [`--${name}`, given(name)] : []));
  const args = [ratchet, 'check', '--against', commit, '--report', report, '--json', ...flags];
  // The token is for the comment alone.
  const others = { ...env, CHECK_TOKEN: undefined };
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'], env: others });
  const ended = new Promise((resolve) => child.once('close', resolve));
  return { out: await text(child.stdout), code: await ended };
}

function outputsOf({ passed, comparison, head }) {
  const values = {
    passed,
    verdict: comparison?.verdict ?? '',
    difference: comparison?.difference.mean ?? '',
    'mean-reward': head?.mean_reward ?? '',
  };
  return Object.entries(values)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');
}

/** A comment that cannot be written is a warning: the gate has decided. */
async function comment(markdown, prompt) {
  const event = env.GITHUB_EVENT_PATH ? JSON.parse(readFileSync(env.GITHUB_EVENT_PATH, 'utf8')) : {};
  const number = event.pull_request?.number;
  if (given('comment') !== 'true' || number === undefined) return;
  const pull = { api: env.GITHUB_API_URL, repository: env.GITHUB_REPOSITORY, number, token: given('token') };
  await upsertComment(pull, `<!-- ratchet check: ${encodeURIComponent(prompt)} -->`, markdown).catch((error) => {
    console.log(`::warning::The comment on pull request ${number} failed: ${error.message}`);
  });
}

function fail(message) {
  console.log(`::error::${message}`);
  process.exit(2);
}
