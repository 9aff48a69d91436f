/** What a form shows of each scorer, as plain JSON. */
import type { ScorerForm } from './form.js';
import { typeOf } from './scorer.js';
import { defaultScorer as byDefault, scorers } from './table.js';
import { weighted } from './weighted.js';

interface ShownScorer extends ScorerForm {
  /** In a few words. */
  reward: string;
}

/** By type. */
export const scorerForms: Readonly<Record<string, ShownScorer>> = Object.fromEntries(
  [...scorers, weighted].map((scorer): [string, ShownScorer] => [
    typeOf(scorer),
    { ...scorer.form, reward: scorer.reward },
  ]),
);

/** The type of the scorer that a request without one gets from a form or a command. */
export const defaultScorer = typeOf(byDefault);
