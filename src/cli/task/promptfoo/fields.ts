/** The fields of a promptfoo file: those that are read, and those that are not, each by name. */
import { closestName } from '../../../contracts/close-names.js';
import type { Remedy } from './faults.js';
import type { PromptfooFile } from './file.js';

interface Fields {
  read: readonly string[];
  /** Without effect on a score. */
  harmless: readonly string[];
  /** Not read, with what that means; named in a note. */
  noted: Readonly<Record<string, string>>;
  /** Refused, with the remedy. */
  refused: Readonly<Record<string, string>>;
  /** The option that resolves a refusal. */
  options?: Readonly<Record<string, Remedy>>;
}

const noRemedy = 'remove it';
const noField = 'is no field of promptfoo and is not read';

export const topFields: Fields = {
  read: ['prompts', 'providers', 'targets', 'tests', 'defaultTest', 'scenarios'],
  harmless: [
    '$schema',
    'description',
    'tags',
    'metadata',
    'outputPath',
    'evaluateOptions',
    'commandLineOptions',
    'sharing',
    'writeLatestResults',
    'assertionTemplates',
    'name',
    'author',
    'basePath',
  ],
  noted: {
    env: 'is not read: the service has its own environment',
    extensions: 'are not run',
    derivedMetrics: 'are not computed',
    nunjucksFilters: 'are not loaded',
    redteam: 'is not read',
    tracing: 'is not read',
    mcp: 'is not read',
  },
  refused: {},
};

export const testFields: Fields = {
  read: ['vars', 'assert', 'threshold', 'options', 'prompts', 'providers'],
  harmless: ['description', 'metadata', 'metric'],
  // Close to a field, but often written in the sense of the note.
  noted: { prompt: noField, name: noField, id: noField, label: noField, tags: noField, expected: noField },
  refused: {
    provider: 'name one model for all tests with --model',
    providerOutput: noRemedy,
    assertScoringFunction: 'remove it, or give a scorer of your own with --scorer',
  },
  options: { provider: 'model' },
};

export const optionFields: Fields = {
  read: ['provider', 'disableVarExpansion', 'disableDefaultAsserts'],
  harmless: ['runSerially', 'disableConversationVar', 'timeout', 'repeat'],
  noted: { rubricPrompt: 'is not used: a judge has the rubric prompt of the service' },
  refused: {
    transformVars: 'write the vars as they become',
    prefix: 'write it into the prompt',
    suffix: 'write it into the prompt',
    storeOutputAs: 'one answer cannot be a var of the next test',
  },
};

export const assertionFields: Fields = {
  read: ['type', 'value', 'weight', 'provider', 'threshold', 'assert', 'config'],
  harmless: ['metric', 'description', 'name'],
  noted: { rubricPrompt: 'is not used: a judge has the rubric prompt of the service' },
  refused: {
    transform: 'leave the assertion out with --scorer mapped, or give a scorer of your own',
    contextTransform: 'leave the assertion out with --scorer mapped',
  },
  options: { transform: 'scorer', contextTransform: 'scorer' },
};

/**
 * Refuses a field that is unknown but close to a known one, or that changes the score; calls `note`
 * for those that are not read.
 */
export function checkFields(
  file: PromptfooFile,
  given: Readonly<Record<string, unknown>>,
  { read, harmless, noted, refused, options = {} }: Fields,
  { where, note }: { where: string; note: (text: string) => void },
): void {
  const known = [...read, ...harmless, ...Object.keys(noted), ...Object.keys(refused)];
  for (const name of Object.keys(given)) {
    if (read.includes(name) || harmless.includes(name) || given[name] == null) continue;
    if (Object.hasOwn(noted, name)) note(`${name} ${noted[name]}`);
    else if (Object.hasOwn(refused, name))
      throw file.fault(`has ${name}${where}, which does not map: ${refused[name]}`, options[name]);
    else {
      const meant = closestName(name, known);
      if (meant !== null) throw file.fault(`has an unknown field ${name}${where}; did you mean ${meant}?`);
      note(`${name} ${noField}`);
    }
  }
}
