import { describe, expect, test } from '@jest/globals';
import { closestName } from '../../src/contracts/close-names.js';

const known = ['model', 'provider', 'temperature', 'max_tokens', 'min_tokens', 'train_seeds', 'gate', 'x'];

describe('the closest name', () => {
  test.each<[string, string | null]>([
    ['provder', 'provider'],
    ['temprature', 'temperature'],
    ['mdoel', 'model'],
    ['Model', 'model'],
    ['trainSeeds', 'train_seeds'],
    ['train-seed', 'train_seeds'],
    ['max_token', 'max_tokens'],
    ['colour', null],
    ['name', null],
    ['y', null],
    ['', null],
    ['_', null],
  ])('of %s is %s', (name, meant) => {
    expect(closestName(name, known)).toBe(meant);
  });

  test('is never the name itself, and none for a name too long to be a slip', () => {
    expect(closestName('model', ['model'])).toBeNull();
    expect(closestName('m'.repeat(1_000_000), ['m'.repeat(1_000_001)])).toBeNull();
  });
});
