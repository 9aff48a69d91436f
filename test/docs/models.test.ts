import { describe, expect, test } from '@jest/globals';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { priceOf } from '../../src/models/client/cost.js';
import { exampleModels } from '../../src/util/example-models.js';
import { retirementOf } from '../../src/core/retirements/lookup.js';
import { asOf, withoutEnd } from './retirements.js';

// Names of models in what users read are those of `src/util/example-models.ts`; each has a price
// and stays for a year after the day on which the vendors' pages were read.

const root = join(import.meta.dirname, '../..');

/** What users read; records of the past and the table of ends (`past`) keep their names. */
const shown = [
  'README.md',
  'SECURITY.md',
  'CONTRIBUTING.md',
  'llms.txt',
  'docker-compose.yml',
  'docs',
  'python',
  'action',
  'examples',
  'deploy',
  'dashboard/src',
  'src',
];
/** Programs that are named like models. */
const programs = ['claude-agent-sdk', 'claude-code'];
const past = ['docs/adr', 'docs/benchmarks.md', 'src/core/retirements/table.ts'];
const text = /\.(md|txt|json|ya?ml|tsx?|mjs|py|toml|csv|jsonl)$/;

const model = new RegExp(
  `\\b(?:${[
    'gpt-[0-9][\\w.-]*',
    'chatgpt-[\\w.-]+',
    'o[134](?:-(?:mini|pro|preview))\\b',
    'claude-[a-z0-9][\\w.-]*',
    'gemini-[0-9][\\w.-]*',
    'llama-?[0-9][\\w.-]*',
    '(?:mistral|ministral|codestral)-[a-z0-9][\\w.-]*',
    'deepseek-(?:chat|reasoner|v\\d|r\\d)[\\w.-]*',
    'qwen-?[0-9][\\w.-]*',
    'grok-[0-9][\\w.-]*',
  ].join('|')})`,
  'gi',
);

function files(path: string): string[] {
  if (past.includes(path)) return [];
  if (!statSync(join(root, path)).isDirectory()) return text.test(path) ? [path] : [];
  const names = readdirSync(join(root, path)).filter((name) => !/^(\.|node_modules$|tests$|__pycache__$)/.test(name));
  return names.flatMap((name) => files(`${path}/${name}`));
}

/** The models that a text names, without a stop at their end. */
function namesIn(content: string): string[] {
  return [...new Set([...content.matchAll(model)].map(([name]) => name.replace(/[.-]+$/, '')))];
}

const aYearLater = new Date(new Date(asOf).setUTCFullYear(new Date(asOf).getUTCFullYear() + 1));

/** Why a model must not be an example. */
function problemOf(name: string): string | undefined {
  const [provider = '', model = ''] = name.split('/', 2);
  if (priceOf(provider, model, 1_000, 1_000) === null) return 'has no price';
  const end = retirementOf({ provider, model })?.shutdownDate;
  if (end === undefined) return withoutEnd.includes(name) ? undefined : 'was not looked up';
  return new Date(end) < aYearLater ? `retires on ${end}` : undefined;
}

const listed: readonly string[] = exampleModels;

test('the models of the examples are priced and stay for a year', () => {
  expect(listed.map((name) => [name, problemOf(name)])).toEqual(listed.map((name) => [name, undefined]));
});

test('what users read names only models of the list', () => {
  const allowed = [...programs, ...listed.map((name) => name.split('/')[1])];
  const others = shown.flatMap(files).flatMap((path) => {
    const names = namesIn(readFileSync(join(root, path), 'utf8')).filter((name) => !allowed.includes(name));
    return names.map((name) => `${path}: ${name}`);
  });
  expect(others).toEqual([]);
});

describe('the check', () => {
  test.each([
    ['openai/gpt-9', 'has no price'],
    ['openai/gpt-4o-mini', 'retires on 2027-01-14'],
    ['openai/gpt-5.4', 'was not looked up'],
  ])('refuses %s: %s', (name, problem) => expect(problemOf(name)).toBe(problem));

  test.each([
    ['openai/gpt-4o-mini.', 'gpt-4o-mini'],
    ['"gpt-4.1-mini-2025-04-14"', 'gpt-4.1-mini-2025-04-14'],
    ['groq:llama-3.3-70b-versatile', 'llama-3.3-70b-versatile'],
    ['`claude-haiku-4-5`', 'claude-haiku-4-5'],
    ['google/gemini-2.5-flash', 'gemini-2.5-flash'],
  ])('finds the name in %s', (content, name) => expect(namesIn(content)).toEqual([name]));

  test('takes no provider, package or pattern for a model', () => {
    expect(namesIn('mistral groq node-llama-cpp gpt-… gpt-([5-9]) `ollama` DeepSeek')).toEqual([]);
  });
});
