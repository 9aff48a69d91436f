/** Forms of the best prompt of a session. */
export const promptForms = ['prompt.txt', 'json', 'promptfoo', 'langfuse', 'dspy'] as const;
export const exportForms = [...promptForms, 'langfuse-traces', 'mlflow'] as const;

export type PromptForm = (typeof promptForms)[number];
export type ExportForm = (typeof exportForms)[number];
