/** Licences of models that stand in two lists, as the hub names them: whoever fetches and whoever draws reads the same. */
export const SDXL_LICENCE = 'openrail++';
export const SDXL_TURBO_LICENCE = 'sai-nc-community';
