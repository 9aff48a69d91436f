/**
 * The ends of chat models that vendors published, by page; docs/reference/providers.md says how to
 * update them. "Not sooner than" a day is no end.
 */

/** Ids that end on a day, aliases beside their snapshots, and the replacement of the page. */
type Row = readonly [ids: string, shutdownDate: string, replacement: string | null];

export interface Page {
  provider: string;
  source: string;
  /** The day on which the page, or a copy of it, was read. */
  asOf: string;
  rows: readonly Row[];
}

const openai = { provider: 'openai', source: 'developers.openai.com/api/docs/deprecations' } as const;
const anthropic = {
  provider: 'anthropic',
  source: 'platform.claude.com/docs/en/about-claude/model-deprecations',
} as const;
const google = { provider: 'google', source: 'ai.google.dev/gemini-api/docs/deprecations' } as const;
const groq = { provider: 'groq', source: 'console.groq.com/docs/deprecations' } as const;

export const pages: readonly Page[] = [
  {
    ...openai,
    asOf: '2026-11-27',
    rows: [
      ['gpt-3.5-turbo gpt-3.5-turbo-0125', '2026-10-23', 'gpt-5.6-terra'],
      ['gpt-4 gpt-4-0613', '2026-10-23', 'gpt-5.6-sol'],
      ['gpt-4-turbo gpt-4-turbo-2024-04-09', '2026-10-23', 'gpt-5.6-sol'],
      ['gpt-4.1-nano gpt-4.1-nano-2025-04-14', '2026-10-23', 'gpt-5.6-luna'],
      ['o4-mini o4-mini-2025-04-16', '2026-10-23', 'gpt-5.6-terra'],
      ['gpt-5 gpt-5-2025-08-07', '2026-12-11', 'gpt-6.1-sol'],
      ['gpt-5-mini gpt-5-mini-2025-08-07', '2026-12-11', 'gpt-6.1-terra'],
      ['gpt-5-nano gpt-5-nano-2025-08-07', '2026-12-11', 'gpt-5.6-luna'],
      ['o3 o3-2025-04-16', '2026-12-11', 'gpt-5.6-sol'],
      ['gpt-4o gpt-4o-2024-08-06 gpt-4o-2024-11-20', '2027-01-14', 'gpt-6-luna'],
      ['gpt-4o-mini gpt-4o-mini-2024-07-18', '2027-01-14', 'gpt-6-luna'],
      ['gpt-4.1 gpt-4.1-2025-04-14', '2027-01-14', 'gpt-6-luna'],
      ['gpt-4.1-mini gpt-4.1-mini-2025-04-14', '2027-01-14', 'gpt-6-luna'],
      ['gpt-5.1 gpt-5.1-2025-11-13', '2027-04-01', 'gpt-6-sol'],
    ],
  },
  {
    ...openai,
    asOf: '2026-10-28',
    rows: [
      ['gpt-4-1106-preview gpt-4o-2024-05-13', '2026-10-23', 'gpt-5.6-sol'],
      ['o1 o1-2024-12-17 o3-mini o3-mini-2025-01-31', '2026-10-23', 'gpt-5.6-sol'],
      ['o1-pro o1-pro-2025-03-19', '2026-10-23', 'gpt-5.6-sol'],
      ['gpt-5-pro gpt-5-pro-2025-10-06', '2026-12-11', 'gpt-5.6-sol'],
      ['o3-pro o3-pro-2025-06-10', '2026-12-11', 'gpt-5.6-sol'],
      ['gpt-5.4-nano gpt-5.4-nano-2026-03-17', '2027-04-01', 'gpt-6-luna'],
      ['gpt-3.5-turbo-1106', '2026-09-28', 'gpt-5.6-terra'],
    ],
  },
  {
    ...openai,
    asOf: '2026-07-24',
    rows: [
      ['gpt-5.2-chat-latest gpt-5.3-chat-latest', '2026-08-10', 'gpt-5.6-sol'],
      ['gpt-5-chat-latest gpt-5.1-chat-latest', '2026-07-23', 'gpt-5.6-sol'],
      ['gpt-5-codex gpt-5.1-codex gpt-5.1-codex-max gpt-5.2-codex', '2026-07-23', 'gpt-5.6-sol'],
      ['gpt-5.1-codex-mini', '2026-07-23', 'gpt-5.6-terra'],
      ['gpt-4o-search-preview-2025-03-11 gpt-4o-mini-search-preview-2025-03-11', '2026-07-23', 'gpt-5.6-terra'],
      ['gpt-4-0314 gpt-4-0125-preview gpt-4-turbo-preview', '2026-03-26', 'gpt-5'],
      ['chatgpt-4o-latest', '2026-02-17', 'gpt-5.1-chat-latest'],
      ['o1-mini', '2025-10-27', 'o4-mini'],
      ['o1-preview', '2025-07-28', 'o3'],
      ['gpt-4.5-preview', '2025-07-14', 'gpt-4.1'],
      ['gpt-4-32k gpt-4-32k-0613 gpt-4-32k-0314', '2025-06-06', 'gpt-4o'],
    ],
  },
  {
    ...anthropic,
    asOf: '2026-11-26',
    rows: [['claude-opus-4-5 claude-opus-4-5-20251101', '2027-01-22', 'claude-opus-5-5']],
  },
  {
    ...anthropic,
    asOf: '2026-07-30',
    rows: [
      ['claude-opus-4-1 claude-opus-4-1-20250805', '2026-08-05', 'claude-opus-4-8'],
      ['claude-opus-4-0 claude-opus-4-20250514', '2026-06-15', 'claude-opus-4-8'],
      ['claude-sonnet-4-0 claude-sonnet-4-20250514', '2026-06-15', 'claude-sonnet-4-6'],
      ['claude-3-haiku-20240307', '2026-04-20', 'claude-haiku-4-5-20251001'],
      ['claude-3-7-sonnet-latest claude-3-7-sonnet-20250219', '2026-02-19', 'claude-sonnet-4-6'],
      ['claude-3-5-haiku-latest claude-3-5-haiku-20241022', '2026-02-19', 'claude-haiku-4-5-20251001'],
      ['claude-3-opus-20240229', '2026-01-05', 'claude-opus-4-8'],
      ['claude-3-5-sonnet-latest claude-3-5-sonnet-20241022', '2025-10-28', 'claude-sonnet-4-6'],
      ['claude-3-5-sonnet-20240620', '2025-10-28', 'claude-sonnet-4-6'],
      ['claude-3-sonnet-20240229', '2025-07-21', 'claude-sonnet-4-6'],
      ['claude-2.0 claude-2.1', '2025-07-21', 'claude-opus-4-8'],
    ],
  },
  {
    ...google,
    asOf: '2026-11-27',
    rows: [
      ['gemini-2.5-pro', '2026-12-01', 'gemini-3.8-flash'],
      ['gemini-2.5-flash', '2026-12-01', 'gemini-3.5-flash-lite'],
      ['gemini-3.1-flash-lite', '2027-05-07', 'gemini-3.5-flash-lite'],
    ],
  },
  {
    ...google,
    asOf: '2026-07-24',
    rows: [
      ['gemini-2.0-flash gemini-2.0-flash-001', '2026-06-01', 'gemini-3.6-flash'],
      ['gemini-2.0-flash-lite gemini-2.0-flash-lite-001', '2026-06-01', 'gemini-3.1-flash-lite'],
      ['gemini-3.1-flash-lite-preview', '2026-05-25', 'gemini-3.1-flash-lite'],
      ['gemini-2.5-flash-lite-preview-09-2025', '2026-03-31', 'gemini-3.1-flash-lite'],
      ['gemini-3-pro-preview', '2026-03-09', 'gemini-3.1-pro-preview'],
      ['gemini-2.5-flash-preview-09-25', '2026-02-17', 'gemini-3.6-flash'],
      ['gemini-2.0-flash-lite-preview gemini-2.0-flash-lite-preview-02-05', '2025-12-09', 'gemini-2.5-flash-lite'],
      ['gemini-2.5-pro-preview-03-25 gemini-2.5-pro-preview-05-06', '2025-12-02', 'gemini-3.1-pro-preview'],
      ['gemini-2.5-pro-preview-06-05', '2025-12-02', 'gemini-3.1-pro-preview'],
      ['gemini-2.5-flash-preview-05-20', '2025-11-18', 'gemini-3.6-flash'],
      ['gemini-1.5-pro gemini-1.5-flash gemini-1.5-flash-8b', '2025-09-29', null],
    ],
  },
  {
    ...groq,
    asOf: '2026-11-27',
    rows: [['llama-3.3-70b-versatile', '2026-08-16', 'openai/gpt-oss-120b']],
  },
  {
    ...groq,
    asOf: '2026-07-24',
    rows: [
      ['llama-3.1-8b-instant', '2026-08-16', 'openai/gpt-oss-20b'],
      ['qwen/qwen3-32b meta-llama/llama-4-scout-17b-16e-instruct', '2026-07-17', 'openai/gpt-oss-120b'],
      ['moonshotai/kimi-k2-instruct-0905', '2026-04-15', 'openai/gpt-oss-120b'],
      ['meta-llama/llama-4-maverick-17b-128e-instruct', '2026-03-09', 'openai/gpt-oss-120b'],
      ['moonshotai/kimi-k2-instruct', '2025-10-10', 'openai/gpt-oss-120b'],
      ['gemma2-9b-it', '2025-10-08', 'llama-3.1-8b-instant'],
      ['deepseek-r1-distill-llama-70b', '2025-10-02', 'llama-3.3-70b-versatile'],
      ['llama3-70b-8192', '2025-08-30', 'llama-3.3-70b-versatile'],
      ['llama3-8b-8192', '2025-08-30', 'llama-3.1-8b-instant'],
      ['mistral-saba-24b', '2025-07-30', 'qwen/qwen3-32b'],
      ['qwen-qwq-32b', '2025-07-14', 'qwen/qwen3-32b'],
      ['mixtral-8x7b-32768', '2025-03-20', 'mistral-saba-24b'],
    ],
  },
  {
    provider: 'mistral',
    source: 'docs.mistral.ai/getting-started/models/models_overview',
    asOf: '2026-08-03',
    rows: [
      ['mistral-medium-2505 mistral-medium-2508', '2026-08-31', 'Mistral Medium 3.5'],
      ['devstral-2512 magistral-medium-2509', '2026-07-31', 'Mistral Medium 3.5'],
      ['mistral-small-2506 magistral-small-2509', '2026-07-31', 'Mistral Small 4'],
      ['open-mistral-nemo open-mistral-nemo-2407', '2026-07-31', 'Ministral 3 8B'],
      ['mistral-large-2411 pixtral-large-2411 devstral-medium-2507', '2026-05-31', 'Mistral Medium 3.5'],
      ['devstral-small-2507', '2026-05-31', 'Mistral Small 4'],
      ['ministral-3b-2410', '2025-12-31', 'Ministral 3 3B'],
      ['ministral-8b-2410', '2025-12-31', 'Ministral 3 8B'],
      ['pixtral-12b-2409', '2025-12-31', 'Ministral 3 14B'],
      ['magistral-medium-2506 magistral-medium-2507 devstral-small-2505', '2025-11-30', 'Mistral Medium 3.5'],
      ['magistral-small-2506 magistral-small-2507', '2025-11-30', 'Mistral Small 4'],
      ['mistral-small-2409 mistral-small-2501 mistral-small-2503', '2025-11-30', 'Mistral Small 4'],
      ['codestral-2501', '2025-11-30', 'Codestral 25.08'],
      ['mistral-saba-2502', '2025-09-30', 'Mistral Small 4'],
      ['mistral-large-2402', '2025-06-16', 'Mistral Large 3'],
      ['mistral-large-2407', '2025-03-30', 'Mistral Large 3'],
      ['open-mixtral-8x7b open-mixtral-8x22b', '2025-03-30', 'Mistral Small 4'],
    ],
  },
  {
    provider: 'deepseek',
    source: 'api-docs.deepseek.com/news/news260424',
    asOf: '2026-08-03',
    rows: [['deepseek-chat deepseek-reasoner', '2026-07-24', 'deepseek-v4-flash']],
  },
  {
    provider: 'xai',
    source: 'docs.x.ai/developers/migration/may-15-retirement',
    asOf: '2026-08-03',
    rows: [
      ['grok-3 grok-4-0709 grok-code-fast-1', '2026-05-15', 'grok-4.3'],
      ['grok-4-fast-reasoning grok-4-fast-non-reasoning', '2026-05-15', 'grok-4.3'],
      ['grok-4-1-fast-reasoning grok-4-1-fast-non-reasoning', '2026-05-15', 'grok-4.3'],
    ],
  },
  {
    provider: 'cerebras',
    source: 'inference-docs.cerebras.ai/support/deprecation',
    asOf: '2026-04-22',
    rows: [
      ['llama3.1-8b qwen-3-235b-a22b-instruct-2507', '2026-05-27', null],
      ['qwen-3-32b llama-3.3-70b', '2026-02-16', 'gpt-oss-120b'],
      ['zai-glm-4.6', '2026-01-20', 'zai-glm-4.7'],
      ['qwen-3-235b-a22b-thinking-2507', '2025-11-14', 'gpt-oss-120b'],
      ['qwen-3-coder-480b', '2025-11-05', 'zai-glm-4.7'],
    ],
  },
];
