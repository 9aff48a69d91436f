/** The models that examples, help texts and placeholders name, as `provider/model`. */
export const exampleModels = ['openai/gpt-6-luna', 'openai/gpt-6-sol'] as const;

/** A current cheap model. */
export const exampleModel = exampleModels[0];

export const exampleModelName = exampleModel.slice(exampleModel.indexOf('/') + 1);
