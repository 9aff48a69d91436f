/** The forms of all scorers by type, as plain JSON. */
import type { ScorerForm } from './form.js';
import { typeOf } from './scorer.js';
import { defaultScorer as byDefault, scorers } from './table.js';
import { weighted } from './weighted.js';

export const scorerForms: Readonly<Record<string, ScorerForm>> = Object.fromEntries(
  [...scorers, weighted].map((scorer): [string, ScorerForm] => [typeOf(scorer), scorer.form]),
);

/** The type of the scorer that a request without one gets from a form or a command. */
export const defaultScorer = typeOf(byDefault);
