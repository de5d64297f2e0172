PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE IF NOT EXISTS "assessments" (
	assessment_id VARCHAR(50) NOT NULL, 
	trace_id VARCHAR(50) NOT NULL, 
	name VARCHAR(250) NOT NULL, 
	assessment_type VARCHAR(20) NOT NULL, 
	value TEXT NOT NULL, 
	error TEXT, 
	created_timestamp BIGINT NOT NULL, 
	last_updated_timestamp BIGINT NOT NULL, 
	source_type VARCHAR(50) NOT NULL, 
	source_id VARCHAR(250), 
	run_id VARCHAR(32), 
	span_id VARCHAR(50), 
	rationale TEXT, 
	overrides VARCHAR(50), 
	valid BOOLEAN NOT NULL, 
	assessment_metadata TEXT, 
	experiment_id INTEGER, 
	trace_timestamp_ms BIGINT, 
	aggregate_value FLOAT, 
	is_numeric_value BOOLEAN DEFAULT 0 NOT NULL, 
	CONSTRAINT assessments_pk PRIMARY KEY (assessment_id), 
	CONSTRAINT fk_assessments_trace_id FOREIGN KEY(trace_id) REFERENCES trace_info (request_id) ON DELETE CASCADE
);
INSERT INTO assessments VALUES('a-2d3d9b3ea4b64c1dbb687a81367dca27','tr-126758819cce2374b47dae77ff29fdee','polite','feedback','"yes"',NULL,1795397216821,1795397216821,'HUMAN','ada@example.org',NULL,NULL,'It is yes.',NULL,1,NULL,1,1795397213257,1.0,0);
INSERT INTO assessments VALUES('a-0348defafdcf4e8ab4bd906bde9026ea','tr-ebffa8ba6c81c045ac1ce41df30d784e','polite','feedback','"no"',NULL,1795397216849,1795397216849,'HUMAN','ada@example.org',NULL,NULL,'It is no.',NULL,1,NULL,1,1795397213274,0.0,0);
INSERT INTO assessments VALUES('a-6543e5127052487282aefa7aa23d62c9','tr-06e0697107179f0d99041becaef6d963','polite','feedback','"yes"',NULL,1795397216872,1795397216872,'HUMAN','ada@example.org',NULL,NULL,'It is yes.',NULL,1,NULL,1,1795397213303,1.0,0);
INSERT INTO assessments VALUES('a-d83fcb7807c24fefa03e2fd3abde86e5','tr-126758819cce2374b47dae77ff29fdee','polite','feedback','"yes"',NULL,1795397216885,1795397216885,'LLM_JUDGE','openai:/gpt-4o',NULL,NULL,'As I see it.',NULL,1,'{"prompt_version": "3"}',1,1795397213257,1.0,0);
INSERT INTO assessments VALUES('a-1ea3fae493b5442fa787fcf5a8d68b81','tr-ebffa8ba6c81c045ac1ce41df30d784e','polite','feedback','"yes"',NULL,1795397216909,1795397216909,'LLM_JUDGE','openai:/gpt-4o',NULL,NULL,'As I see it.',NULL,1,'{"prompt_version": "3"}',1,1795397213274,1.0,0);
INSERT INTO assessments VALUES('a-bb23bd3eb9ff4c6e9afdc7b5e8191829','tr-06e0697107179f0d99041becaef6d963','polite','feedback','"no"',NULL,1795397216937,1795397216937,'LLM_JUDGE','openai:/gpt-4o',NULL,NULL,'As I see it.',NULL,1,'{"prompt_version": "3"}',1,1795397213303,0.0,0);
INSERT INTO assessments VALUES('a-6929f2d7d31a41da984baba90210538d','tr-126758819cce2374b47dae77ff29fdee','short','feedback','true',NULL,1795397216959,1795397216959,'CODE','length-check',NULL,NULL,NULL,NULL,1,NULL,1,1795397213257,1.0,0);
INSERT INTO assessments VALUES('a-8ee680b860dc4d60a74a4e4729e6534a','tr-126758819cce2374b47dae77ff29fdee','score','feedback','0.5',NULL,1795397216974,1795397216974,'HUMAN','bo@example.org',NULL,NULL,NULL,NULL,1,NULL,1,1795397213257,0.5,1);
INSERT INTO assessments VALUES('a-7b909387907241cfa52c5d3633ff87d5','tr-126758819cce2374b47dae77ff29fdee','polite','expectation','"yes"',NULL,1795397217001,1795397217001,'HUMAN','ada@example.org',NULL,NULL,NULL,NULL,1,NULL,1,1795397213257,1.0,0);
INSERT INTO assessments VALUES('a-e457636f90d3482dbd41bd524cd4d656','tr-ebffa8ba6c81c045ac1ce41df30d784e','polite','feedback','"yes"',NULL,1795397217025,1795397217025,'HUMAN','bo@example.org',NULL,NULL,NULL,NULL,0,NULL,1,1795397213274,1.0,0);
INSERT INTO assessments VALUES('a-6c50c7462f434d9d9648582d5ddcd2df','tr-ebffa8ba6c81c045ac1ce41df30d784e','polite','feedback','"no"',NULL,1795397217056,1795397217056,'HUMAN','bo@example.org',NULL,NULL,'Changed my mind.','a-e457636f90d3482dbd41bd524cd4d656',1,NULL,1,1795397213274,0.0,0);
INSERT INTO assessments VALUES('a-2a842c7ecdcb4e589c335eca3388899a','tr-06e0697107179f0d99041becaef6d963','polite','feedback','"no"',NULL,1795397217091,1795397217118,'HUMAN','cy@example.org',NULL,NULL,'Updated.',NULL,1,NULL,1,1795397213303,0.0,0);
INSERT INTO assessments VALUES('a-86867e8691634b07b5139d32860c377a','tr-06e0697107179f0d99041becaef6d963','topics','feedback','["food", "place"]',NULL,1795397217149,1795397217149,'HUMAN','ada@example.org',NULL,NULL,NULL,NULL,1,NULL,1,1795397213303,NULL,0);
INSERT INTO assessments VALUES('a-6150f5f5b5c145f6ba75a3bd6b00bf35','tr-06e0697107179f0d99041becaef6d963','parts','feedback','{"tone": 1}',NULL,1795397217173,1795397217173,'HUMAN','ada@example.org',NULL,NULL,NULL,NULL,1,NULL,1,1795397213303,NULL,0);
INSERT INTO assessments VALUES('a-e2821a0a41a44e888720c673a780b338','tr-06e0697107179f0d99041becaef6d963','polite','feedback','null','{"error_code": "Exception", "error_message": "rate limit", "stack_trace": "Exception(''rate limit'')Exception: rate limit"}',1795397217197,1795397217197,'LLM_JUDGE','openai:/gpt-4o',NULL,NULL,NULL,NULL,1,NULL,1,1795397213303,NULL,0);
INSERT INTO assessments VALUES('a-a7a5b12cc9ee4d03a89fd735a8edd256','tr-06e0697107179f0d99041becaef6d963','polite','feedback','"yes"',NULL,1795397217217,1795397217217,'CODE','default',NULL,NULL,NULL,NULL,1,NULL,1,1795397213303,1.0,0);
INSERT INTO assessments VALUES('a-0cadbf9552364d3aaf496edae48b7973','tr-ebffa8ba6c81c045ac1ce41df30d784e','polite','feedback','"no"',NULL,1795397217239,1795397217239,'HUMAN','default',NULL,NULL,NULL,NULL,1,NULL,1,1795397213274,0.0,0);
COMMIT;
