/** The groups of operations, in the order in which the document shows them. */
export const tags = [
  {
    name: 'Sessions',
    description: 'Searches for better prompts: GEPA and MIPRO on a container, a data set or live traffic.',
  },
  { name: 'Evaluations', description: 'One prompt on given seeds or rows, with a reward for each.' },
  { name: 'Graph jobs', description: 'Searches for better graphs of model calls.' },
  { name: 'Deployments', description: 'Frozen prompts and graphs under a name, with gates, rollback and statistics.' },
  { name: 'Schedules', description: 'What is done again and again with what names serve.' },
  { name: 'Migrations', description: 'Moves of deployments to other models, if they are no worse there.' },
  {
    name: 'Checkups',
    description: 'Whether deployments still answer as well as at their release, and better prompts.',
  },
  {
    name: 'Inference',
    description:
      "Answers of a session's candidate or of a deployment: OpenAI chat completions and responses, Anthropic messages.",
  },
  { name: 'Data sets', description: 'Uploaded rows that jobs run on. They are immutable.' },
  { name: 'Comparison', description: 'Two candidates on common seeds, with intervals.' },
  { name: 'Runs', description: 'Sessions, evaluations and graph jobs in one list, and commands for many of them.' },
  { name: 'Reviews', description: 'What people say of answers, and the queue of what they are to look at.' },
  { name: 'Webhooks', description: 'Signed notices of jobs that have ended.' },
  { name: 'Access', description: 'Organizations, API keys, limits, provider keys and the audit log.' },
  { name: 'Service', description: 'Name, health and providers.' },
];
