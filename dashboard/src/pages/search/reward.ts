import type { Candidate } from '../../data/search.js';

/** The reward on the evaluation seeds: measured, else estimated when it was accepted. */
export const knownReward = ({ reward, decision }: Candidate): number | null => reward ?? decision.estimated_reward;
