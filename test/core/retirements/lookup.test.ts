import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { presets } from '../../../src/models/client/addresses/presets.js';
import {
  daysLeft,
  firstToRetire,
  retirementOf,
  retirementWarning,
  warnedDays,
} from '../../../src/core/retirements/lookup.js';
import { pages } from '../../../src/core/retirements/table.js';

const rows = pages.flatMap(({ provider, rows }) =>
  rows.flatMap(([ids, date, replacement]) => ids.split(' ').map((model) => ({ provider, model, date, replacement }))),
);
const anyRow = fc.constantFrom(...rows);
const dayMs = 86_400_000;
const end = (provider: string, model: string) => retirementOf({ provider, model })?.shutdownDate ?? null;

describe('the table', () => {
  test('has real days, providers that are built in, and each model once', () => {
    for (const { provider, asOf, source } of pages) {
      expect(presets).toHaveProperty(provider);
      expect(new Date(asOf).toISOString().slice(0, 10)).toBe(asOf);
      expect(source).toMatch(/^[\w.-]+\.\w+\/[\w./-]+$/);
    }
    for (const { date, model, replacement } of rows) {
      expect(new Date(date).toISOString().slice(0, 10)).toBe(date);
      expect([model, replacement]).not.toEqual([model, model]);
    }
    const names = rows.map(({ provider, model }) => `${provider}/${model}`);
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
  });
});

describe('an end', () => {
  test('is found for each id of the table', () => {
    fc.assert(fc.property(anyRow, ({ provider, model, date }) => expect(end(provider, model)).toBe(date)));
  });

  test('is claimed for no other spelling', () => {
    const change = fc.oneof(
      fc.constant((id: string) => ` ${id}`),
      fc.constant((id: string) => id.toUpperCase()),
      fc.constant((id: string) => `${id}-2099-01-01`),
      fc.constant((id: string) => `${id}x`),
      fc.constant((id: string) => `vendor/${id}`),
      fc.constant((id: string) => id.slice(0, -1)),
    );
    const ids = new Set(rows.map(({ provider, model }) => `${provider}/${model}`));
    fc.assert(
      fc.property(anyRow, change, ({ provider, model }, changed) => {
        const other = changed(model);
        fc.pre(!ids.has(`${provider}/${other}`));
        expect(end(provider, other)).toBeNull();
      }),
    );
  });

  test('is claimed for no model of a gateway or a host that names models itself', () => {
    const hosts = fc.constantFrom('azure', 'bedrock', 'vertex', 'litellm', 'vllm', 'ollama', 'together', 'local', 'x');
    fc.assert(
      fc.property(anyRow, hosts, ({ provider, model }, host) => {
        expect(end(host, model)).toBeNull();
        expect(end(host, `${provider}/${model}`)).toBeNull();
      }),
    );
  });

  test('is claimed for no text', () => {
    const names = fc.oneof(fc.string(), fc.constantFrom('__proto__', 'constructor', 'toString', 'openrouter'));
    fc.assert(
      fc.property(names, names, (provider, model) => {
        fc.pre(!rows.some((row) => row.provider === provider && row.model === model));
        expect(end(provider, model)).toBeNull();
      }),
    );
  });

  test.each([
    ['openrouter', 'openai/gpt-4o-mini', '2027-01-14'],
    ['openrouter', 'openai/gpt-4o-mini:nitro', '2027-01-14'],
    ['openrouter', 'x-ai/grok-3', '2026-05-15'],
    ['openrouter', 'deepseek/deepseek-chat', null],
    ['openrouter', 'gpt-4o-mini', null],
    ['openrouter', 'groq/gemma2-9b-it', null],
    ['openrouter', 'openai/openai/gpt-4o-mini', null],
    ['openai', 'ft:gpt-4o-mini-2024-07-18:acme::A1b2', '2027-01-14'],
    ['openai', 'ft:gpt-9:acme::A1b2', null],
    ['google', 'models/gemini-2.5-flash', '2026-12-01'],
    ['google', 'models/gemini-2.5-flash-lite', null],
    ['mistral', 'mistral-small-latest', null],
  ])('of %s %s is %s', (provider, model, date) => expect(end(provider, model)).toBe(date));

  test('that comes first is that of the list', () => {
    fc.assert(
      fc.property(fc.array(anyRow), (named) => {
        const dates = named.map(({ date }) => date).sort();
        expect(firstToRetire(named)?.shutdownDate ?? null).toBe(dates[0] ?? null);
      }),
    );
  });
});

describe('days left', () => {
  test.each([
    ['2027-01-14', '2027-01-14T23:59:59Z', 0],
    ['2027-01-14', '2027-01-13T00:00:00Z', 1],
    ['2027-01-14', '2027-01-15T00:00:00Z', -1],
    ['2027-04-01', '2027-03-01T12:00:00Z', 31],
  ])('until %s at %s are %i', (date, now, days) => expect(daysLeft(date, Date.parse(now))).toBe(days));

  test('decide whether a model is warned of', () => {
    const days = fc.oneof(fc.constantFrom(-1, 0, warnedDays, warnedDays + 1), fc.integer({ min: -400, max: 400 }));
    fc.assert(
      fc.property(anyRow, days, fc.nat(dayMs - 1), (row, left, ms) => {
        const now = Date.parse(row.date) - left * dayMs + ms;
        expect(daysLeft(row.date, now)).toBe(left);
        const warning = retirementWarning(row, now);
        expect(warning !== null).toBe(left <= warnedDays);
        if (warning !== null) expect(warning).toContain(`${left < 0 ? 'retired' : 'retires'} on ${row.date}`);
      }),
    );
  });

  test('and the replacement are what a warning says', () => {
    const name = { provider: 'openai', model: 'gpt-4o-mini' };
    expect(retirementWarning(name, Date.parse('2026-11-29'))).toBe(
      'Model gpt-4o-mini of openai retires on 2027-01-14; the vendor names gpt-6-luna.',
    );
  });
});
