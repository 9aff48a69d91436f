-- What a call's request marked as levers while the baseline was not known: [{name, text}], in order. The baseline is made of it.
alter table model_calls add column levers jsonb;
-- Component to a digest of its text, of candidates with several: which texts a component has had is counted without reading them.
alter table candidates add column component_digests jsonb;
