// Constraints and indexes of the shop's graph. Every node is identified by its key property.
CREATE CONSTRAINT country_code IF NOT EXISTS FOR (n:Country) REQUIRE n.code IS UNIQUE;
CREATE CONSTRAINT city_id IF NOT EXISTS FOR (n:City) REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT category_id IF NOT EXISTS FOR (n:Category) REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT supplier_id IF NOT EXISTS FOR (n:Supplier) REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT product_id IF NOT EXISTS FOR (n:Product) REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT product_sku IF NOT EXISTS FOR (n:Product) REQUIRE n.sku IS UNIQUE;
CREATE CONSTRAINT tag_name IF NOT EXISTS FOR (n:Tag) REQUIRE n.name IS UNIQUE;
CREATE CONSTRAINT warehouse_id IF NOT EXISTS FOR (n:Warehouse) REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT warehouse_code IF NOT EXISTS FOR (n:Warehouse) REQUIRE n.code IS UNIQUE;
CREATE CONSTRAINT user_id IF NOT EXISTS FOR (n:User) REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT user_handle IF NOT EXISTS FOR (n:User) REQUIRE n.handle IS UNIQUE;
CREATE CONSTRAINT payment_card_id IF NOT EXISTS FOR (n:PaymentCard) REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT order_id IF NOT EXISTS FOR (n:Order) REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT review_id IF NOT EXISTS FOR (n:Review) REQUIRE n.id IS UNIQUE;
CREATE INDEX order_placed_at IF NOT EXISTS FOR (n:Order) ON (n.placedAt);
CREATE INDEX order_status IF NOT EXISTS FOR (n:Order) ON (n.status);
CREATE INDEX product_price IF NOT EXISTS FOR (n:Product) ON (n.price);
