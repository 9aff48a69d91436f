import type { Failure } from './schemathesis.js';

/** What a check of schemathesis cannot know; everything else that it reports is a fault. */
interface Exception {
  check: string;
  /** Operations as `METHOD path`; absent: all. */
  operation?: RegExp;
  /** Codes of the answer's problem; absent: any. */
  code?: RegExp;
  /** Pointers of the problem's errors; absent: any. */
  pointer?: RegExp;
  /** What the answer says; absent: anything. */
  detail?: RegExp;
  reason: string;
}

const accepted = 'positive_data_acceptance';

const exceptions: readonly Exception[] = [
  {
    check: accepted,
    pointer: /^\/cursor$/,
    reason: 'A cursor is from an answer: its form alone does not make it valid.',
  },
  {
    check: accepted,
    pointer: /^\/judge\/scorer$/,
    reason: 'A schema does not know which scorers compare with an expected value.',
  },
  { check: accepted, pointer: /\/(\w+_)?seeds$/, reason: 'JSON Schema does not compare the ends of a range.' },
  { check: accepted, operation: /\/history$/, pointer: /^\/from$/, reason: 'JSON Schema does not compare two times.' },
  {
    check: accepted,
    detail: /has more digits than a number keeps/,
    reason: 'JSON Schema does not count the digits of a number.',
  },
  {
    check: accepted,
    operation: /\/harbor\/deployments/,
    pointer: /^\/log\/redact\/\d+\/pattern$/,
    reason: 'A schema does not know RE2, and what matches an empty text.',
  },
  {
    check: 'ensure_resource_availability',
    operation: /\/feedback$/,
    code: /^answer_not_found$/,
    reason: 'The deployment exists; the id is that of no answer.',
  },
  {
    check: 'ensure_resource_availability',
    operation: /^GET .*\/rollout$/,
    code: /^not_found$/,
    reason: 'The deployment exists; its name has no rollout yet.',
  },
  {
    check: 'ensure_resource_availability',
    operation: /\/rows\/dataset$/,
    code: /^no_rows$/,
    reason: 'The job exists; it has no rows yet.',
  },
  {
    check: 'allow_header_conformance',
    operation: /\/requests\/(dataset|export)$/,
    reason: 'The path is also that of a request whose id would be this word.',
  },
  {
    check: accepted,
    operation: /^POST \/api\/v1\/runs\/commands$/,
    pointer: /^\/filter$/,
    reason: 'A field that is null is absent, and JSON Schema counts it.',
  },
  {
    check: accepted,
    operation: /\/harbor\/deployments\/\{\w+\}\//,
    code: /^cost_not_bounded$/,
    reason: 'A schema does not know which prices are known.',
  },
  {
    check: accepted,
    operation: /\/ablations$/,
    pointer: /^\/sentence$/,
    reason: 'A schema does not know the sentences of a prompt.',
  },
  { check: accepted, pointer: /^\/rollout\/steps$/, reason: 'JSON Schema does not compare the steps of a list.' },
  { check: accepted, pointer: /\/heldout_rows$/, reason: 'JSON Schema does not count different rows.' },
  { check: accepted, pointer: /\/max_prompt_tokens$/, reason: 'JSON Schema does not count tokens.' },
  {
    check: accepted,
    operation: /\/migrations$/,
    pointer: /^(\/(to|optimize|dataset|scorer))?$/,
    reason: 'A schema does not know what a name serves, and does not count different rows.',
  },
  {
    check: accepted,
    operation: /\/(checkups|improve)$/,
    pointer: /^(\/(traffic|scorer|rows\/(dataset|scorer)))?$/,
    reason: 'A schema does not know what a name serves, and by what it is judged.',
  },
  {
    check: accepted,
    pointer: /^\/(cron|every|timezone)$/,
    reason: 'JSON Schema knows no cron expressions and time zones.',
  },
  {
    check: accepted,
    operation: /\/schedules(\/\{\w+\})?$/,
    pointer: /^\/(checkup(\/.*)?|max_cost_usd_per_month)?$/,
    reason: 'A schema does not know what a name serves, and which prices are known.',
  },
  { check: accepted, pointer: /\/provider$/, reason: 'Which providers a service has is a setting.' },
  { check: accepted, pointer: /^\/expires_at$/, reason: 'JSON Schema has no clock.' },
  {
    check: accepted,
    pointer: /\/(dataset_id|session_id|graph_job_id|candidate_id|against)$/,
    reason: 'A schema does not know what exists.',
  },
  {
    check: accepted,
    operation: /\/harbor\/deployments/,
    pointer: /^\/(version|deployment_id|source\/deployment)$/,
    reason: 'A schema does not know which deployments a name has.',
  },
  {
    check: accepted,
    operation: /^GET .*\/prompt$/,
    pointer: /^\/(label|version)$/,
    reason: 'No parameter of OpenAPI can exclude another one.',
  },
  {
    check: accepted,
    operation: /^GET .*\/results$/,
    pointer: /^\/(limit|offset|group|expected|answered|other_answers|feedback|review|q)$/,
    reason: 'No parameter of OpenAPI can require another one.',
  },
  {
    check: accepted,
    pointer: /\/__proto__$/,
    reason: 'No name of a field; a schema of every object would have to say it.',
  },
  {
    check: accepted,
    operation: /\/(clone|extend)$/,
    reason: 'What may be changed depends on the request that made the job.',
  },
  {
    check: accepted,
    operation: /^POST .*\/messages$/,
    pointer: /^\/messages$/,
    reason: 'A conversation of thoughts alone has the form of one, and says nothing.',
  },
  {
    check: accepted,
    operation: /^POST .*\/candidates$/,
    pointer: /^\/messages\/\d+\/(name|content)$/,
    reason: 'The components and placeholders of a prompt are those of its session.',
  },
  {
    check: accepted,
    operation: /^POST \/api\/harbor\/deployments$/,
    code: /^prompt_not_servable$/,
    reason: 'Whether a prompt can be served depends on the job that found it.',
  },
  {
    check: accepted,
    operation: /^POST \/api\/harbor\/deployments$/,
    pointer: /^\/gate\/scorer$/,
    reason: 'Whether the source of a deployment has a scorer depends on its session.',
  },
  {
    check: accepted,
    operation: /^POST \/api\/graphgen\/jobs$/,
    pointer: /^\/dataset\/(tasks|gold_outputs|default_rubric|verifier_config)(\/|$)/,
    reason: 'JSON Schema does not compare tasks with gold outputs, rubrics and mode.',
  },
  {
    check: accepted,
    pointer: /\/((messages|criteria)\/\d+\/name|policy_models\/\d+)$/,
    reason: 'JSON Schema does not compare names in a list.',
  },
  {
    check: accepted,
    operation: /^POST \/api\/v1\/datasets$/,
    code: /^invalid_rows$/,
    reason: 'JSON lines and CSV are text to a schema.',
  },
  {
    check: accepted,
    pointer: /\/dataset\/(input|expected)$/,
    reason: 'JSON Schema does not compare a name with the columns of rows.',
  },
  {
    check: accepted,
    pointer: /\/(gepa\/(generations|population_size|minibatch_size)|mipro\/(num_trials|\w*size)|evaluation\/repeats)$/,
    reason: 'JSON Schema does not calculate: the product of two fields, or a batch of the seeds, is too large.',
  },
  {
    check: accepted,
    pointer: /\/budget\/max_(cost_usd|rollouts)$/,
    reason: 'Known prices, and the least number of rollouts of a search, are no matter of a schema.',
  },
  {
    check: accepted,
    pointer: /\/scorer\/schema$/,
    reason: 'Keywords that the scorer knows, RE2 patterns and references within are no matter of a schema.',
  },
  {
    check: accepted,
    pointer: /\/scorer\/code$/,
    reason: 'Whether scorers in JavaScript are allowed is a setting.',
  },
  {
    check: accepted,
    operation: /^GET \/api\/v1\/compare(\/many(\/rows)?)?$/,
    code: /^(no_rollouts|not_comparable|no_common_seeds)$/,
    reason: 'What can be compared depends on the rollouts.',
  },
  {
    check: accepted,
    operation: /^GET \/api\/v1\/compare\/many(\/rows)?$/,
    pointer: /^\/(baseline|column)$/,
    reason: 'A schema of one parameter does not know the ids of another.',
  },
  {
    check: 'negative_data_rejection',
    code: /^body_too_large$/,
    reason: 'A wrong body over the limit is a 413, which is not among the statuses that the check expects.',
  },
  {
    check: 'use_after_free',
    operation: /^GET \/api\/v1\/admin\/keys\/\{key_id\}\/limits$/,
    reason: 'DELETE revokes a key, which stays in the list of keys with its limits.',
  },
];

/** Whether exceptions cover each error that the answer names. */
export function isExpected(failure: Failure): boolean {
  const pointers = failure.pointers.length > 0 ? failure.pointers : [null];
  return pointers.every((pointer) => exceptions.some((exception) => covers(exception, failure, pointer)));
}

function covers(exception: Exception, { check, operation, code, detail }: Failure, pointer: string | null): boolean {
  if (exception.detail?.test(detail) === false) return false;
  if (check !== exception.check || exception.operation?.test(operation) === false) return false;
  if (exception.code && !exception.code.test(code ?? '')) return false;
  return !exception.pointer || (pointer !== null && exception.pointer.test(pointer));
}
