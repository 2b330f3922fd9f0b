/** Ends the name of every group of tests that is skipped because its model is not in the folder of real models. */
export const MISSING = 'is not in the folder of models';
