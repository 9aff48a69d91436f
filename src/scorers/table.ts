/** All scorers. To add one, write its file and list it here. */
import { contains } from './contains.js';
import { exact } from './exact.js';
import { goldExamples } from './gold-examples.js';
import { http } from './http.js';
import { javascript } from './javascript.js';
import { json } from './json.js';
import { numeric } from './numeric.js';
import { regex } from './regex.js';
import { rubric, tasksRubric } from './rubric.js';
import { similarity } from './similarity.js';

/** In the order of forms and documents; each can be a part of a weighted scorer. */
export const scorers = [exact, contains, regex, numeric, json, similarity, rubric, javascript, http] as const;

/** The modes of a graph job's `verifier_config`: names of scorers, and of judges of tasks. */
export const verifiers = {
  exact,
  contains,
  numeric,
  json,
  rubric: tasksRubric,
  gold_examples: goldExamples,
  /** The existing client's name. */
  contrastive: goldExamples,
} as const;

export const defaultScorer = exact;
