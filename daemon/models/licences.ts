/** Licences used in both the model catalog and the image models, with the hub's names. */
export const SDXL_LICENCE = 'openrail++';
export const SDXL_TURBO_LICENCE = 'sai-nc-community';
