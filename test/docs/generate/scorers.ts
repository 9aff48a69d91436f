import { typeOf } from '../../../src/scorers/scorer.js';
import { scorers } from '../../../src/scorers/table.js';
import { weighted } from '../../../src/scorers/weighted.js';
import { table } from './table.js';

/** All scorers by type. */
export function scorerTable(): string {
  const rows = [...scorers, weighted].map((scorer) => [`\`${typeOf(scorer)}\``, scorer.reward, scorer.expected]);
  return table(['type', 'reward', 'expected value'], rows);
}
