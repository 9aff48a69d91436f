/** The fields of a promptfoo file: those that are read, and those that are not, each by name. */
import { closestName } from '../../../contracts/close-names.js';
import type { PromptfooFile } from './file.js';

interface Fields {
  read: readonly string[];
  /** Without effect on a score. */
  harmless: readonly string[];
  /** Not read, with what that means; named in a note. */
  noted: Readonly<Record<string, string>>;
  /** Refused, with the remedy. */
  refused: Readonly<Record<string, string>>;
}

const noRemedy = 'remove it';

export const topFields: Fields = {
  read: ['prompts', 'providers', 'targets', 'tests', 'defaultTest', 'scenarios'],
  harmless: [
    ...['$schema', 'description', 'tags', 'metadata', 'outputPath', 'evaluateOptions', 'commandLineOptions'],
    ...['sharing', 'writeLatestResults', 'assertionTemplates', 'name', 'author', 'basePath'],
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
  read: ['vars', 'assert', 'threshold', 'options'],
  harmless: ['description', 'metadata', 'metric'],
  noted: {},
  refused: {
    provider: 'name the model with --model and remove it',
    providers: 'name the model with --model and remove it',
    prompts: 'choose the prompt with --prompt and remove it',
    providerOutput: noRemedy,
    assertScoringFunction: 'remove it, or give --scorer',
  },
};

export const optionFields: Fields = {
  read: ['provider', 'disableVarExpansion'],
  harmless: ['runSerially', 'disableConversationVar', 'disableDefaultAsserts', 'timeout', 'repeat'],
  noted: { rubricPrompt: 'is not used: a judge has the rubric prompt of the service' },
  refused: {
    transform: 'give --scorer in its place, or remove it',
    postprocess: 'give --scorer in its place, or remove it',
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
    transform: 'give --scorer in its place, or remove it',
    contextTransform: noRemedy,
  },
};

/**
 * Refuses a field that is unknown but close to a known one, or that changes the score; calls `note`
 * for those that are not read.
 */
export function checkFields(
  file: PromptfooFile,
  given: Readonly<Record<string, unknown>>,
  { read, harmless, noted, refused }: Fields,
  { where, isStrict, note }: { where: string; isStrict: boolean; note: (text: string) => void },
): void {
  const known = [...read, ...harmless, ...Object.keys(noted), ...Object.keys(refused)];
  for (const name of Object.keys(given)) {
    if (read.includes(name) || harmless.includes(name) || given[name] == null) continue;
    if (Object.hasOwn(noted, name)) note(`${name} ${noted[name]}`);
    else if (Object.hasOwn(refused, name))
      throw file.fault(`has ${name}${where}, which does not map: ${refused[name]}`);
    else {
      const meant = closestName(name, known);
      if (meant !== null) throw file.fault(`has an unknown field ${name}${where}; did you mean ${meant}?`);
      if (isStrict) throw file.fault(`has an unknown field ${name}${where}; ${noRemedy}`);
      note(`${name} is no field of promptfoo and is not read`);
    }
  }
}
