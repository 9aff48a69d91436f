const rows = [...'abcd'].map((input) => ({ input, expected: input }));

/** The request of a checkup, for which no model is asked before it begins. */
export const checkup = { rows: { dataset: { rows }, scorer: 'exact' }, traffic: null };
